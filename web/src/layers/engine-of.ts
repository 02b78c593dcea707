// From the engine that a layer was given, or the shared one, to what computes layers there.

import { HeedError } from "../api/errors.js";
import type { Heed } from "../api/heed.js";
import { LAYERS, type LayerBackend } from "../backends/layer-backend.js";
import { openShared } from "../shared-engine.js";

interface OpenEngine {
  readonly heed: Heed;
  readonly backend: LayerBackend;
}

/** Where a layer computes: found when it is first asked for. */
export class LayerEngine {
  readonly #given: Heed | null;
  #opening: Promise<OpenEngine> | null = null;

  constructor(where: string, engine: Heed | undefined) {
    if (engine !== undefined && doorOf(engine) === null) {
      throw new HeedError("option", `${where}: engine must be one that createHeed made`);
    }
    this.#given = engine ?? null;
  }

  async open(): Promise<OpenEngine> {
    this.#opening ??= this.#find();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  async #find(): Promise<OpenEngine> {
    const heed = this.#given ?? (await openShared());
    const door = doorOf(heed);
    if (door === null)
      throw new HeedError("unsupported", "heed/layers: the shared engine is of another version of heed");
    return { heed, backend: await door() };
  }
}

function doorOf(engine: Heed): (() => Promise<LayerBackend>) | null {
  if (typeof engine !== "object" || engine === null || !(LAYERS in engine)) return null;
  const door = engine[LAYERS];
  return typeof door === "function" ? () => Reflect.apply(door, engine, []) : null;
}
