// Finds the backend of layers in the engine that a layer was given, or in the shared one.

import type { Heed } from "../api/heed.js";
import { type Backend, ENGINE, type ModuleName, type Program } from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { isRecord } from "../base/read-values.js";
import { openShared } from "../shared-engine.js";
import { beginPass } from "./passes.js";

/** The engine of a layer. It is opened at the first pass. */
export class LayerEngine {
  readonly #given: Heed | null;
  #opening: Promise<Backend> | null = null;

  constructor(where: string, engine: Heed | undefined) {
    if (engine !== undefined && !guard("option", `${where}: reading engine`, () => isEngine(engine))) {
      throw new HeedError("option", `${where}: engine must be one that createHeed made`);
    }
    this.#given = engine ?? null;
  }

  /** Opens the engine for a pass, and begins its program. It must end with `endPass`. */
  async begin(
    signal: AbortSignal | null,
    module: ModuleName,
  ): Promise<{ readonly backend: Backend; readonly program: Program; readonly module: ModuleName }> {
    this.#opening ??= this.#find();
    try {
      const backend = await this.#opening;
      return { backend, program: await beginPass(backend.root, signal, module), module };
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  /** The engine as its users see it. */
  async heed(): Promise<Heed> {
    return this.#given ?? openShared();
  }

  async #find(): Promise<Backend> {
    const heed = await this.heed();
    if (isEngine(heed)) return heed[ENGINE]();
    throw new HeedError("unsupported", "heed/layers: the shared engine is of another version of heed");
  }
}

function isEngine(engine: unknown): engine is { [ENGINE](): Backend } {
  return isRecord(engine) && ENGINE in engine && typeof engine[ENGINE] === "function";
}
