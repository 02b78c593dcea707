// Finds the backend of layers in the engine that a layer was given, or in the shared one.

import { HeedError } from "../api/errors.js";
import { guard } from "../api/guard.js";
import type { Heed } from "../api/heed.js";
import { isRecord } from "../api/read-values.js";
import { LAYERS, type LayerBackend } from "../backends/layer-backend.js";
import { openShared } from "../shared-engine.js";

interface OpenEngine {
  readonly heed: Heed;
  readonly backend: LayerBackend;
}

/** The engine of a layer. It is opened at the first pass. */
export class LayerEngine {
  readonly #given: Heed | null;
  #opening: Promise<OpenEngine> | null = null;

  constructor(where: string, engine: Heed | undefined) {
    if (engine !== undefined && !guard("option", `${where}: reading engine`, () => isEngine(engine))) {
      throw new HeedError("option", `${where}: engine must be one that createHeed made`);
    }
    this.#given = engine ?? null;
  }

  /** Opens the engine for a pass, which must end with `backend.end()`. */
  async begin(): Promise<OpenEngine> {
    this.#opening ??= this.#find();
    try {
      const open = await this.#opening;
      await open.backend.begin();
      return open;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  async #find(): Promise<OpenEngine> {
    const heed = this.#given ?? (await openShared());
    if (isEngine(heed)) return { heed, backend: await heed[LAYERS]() };
    throw new HeedError("unsupported", "heed/layers: the shared engine is of another version of heed");
  }
}

function isEngine(engine: unknown): engine is { [LAYERS](): Promise<LayerBackend> } {
  return isRecord(engine) && LAYERS in engine && typeof engine[LAYERS] === "function";
}
