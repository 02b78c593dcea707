// The KV caches of a model's layers with the tokens that they hold, so that a prompt that begins with these is not computed again.

import type { KVCache } from "../api/cache-types.js";
import type { Heed } from "../api/heed.js";
import { HeedError } from "../base/errors.js";
import { isRecord, readChoice, readCount, readRecord } from "../base/read-values.js";
import { Layer } from "../layers/layer.js";
import { Linear } from "../layers/linear.js";
import { MultiHeadAttention } from "../layers/multi-head-attention.js";
import { DISPOSE } from "../memory/disposable.js";

/** The sizes and the type of the caches of a model. */
export interface ModelCacheOptions {
  /** The most tokens that it holds. Default as many as the model has positions, or 4,096 where it does not say. */
  readonly maxLength?: number | undefined;
  /** In which keys and values are stored. Default "f32". */
  readonly dtype?: "f32" | "f16" | "i8" | undefined;
}

/** What keys and values depend on beside tokens, by its names. */
export type Circumstances = ReadonlyMap<string, unknown>;

/** Hooks as they are now, because their object may be changed in place, and what an adapter holds, because its name may get another. */
export function circumstancesOf(hooks: unknown, adapter: unknown): Circumstances {
  const named = Object.entries(hooks ?? {}).flatMap(([name, hook]): [string, unknown][] =>
    isRecord(hook)
      ? Object.entries(hook).map(([part, value]): [string, unknown] => [`${name}.${part}`, value])
      : [[name, hook]],
  );
  return new Map([...named, ["", adapter]]);
}

const isSame = (one: Circumstances, other: Circumstances): boolean =>
  one.size === other.size && [...one].every(([name, value]) => other.has(name) && Object.is(other.get(name), value));

/** A cache that is kept between the turns of a dialogue. Made by `createCache` of a loaded model, freed by `dispose`. */
export class ModelCache {
  readonly maxLength: number;
  readonly #caches: readonly KVCache[];
  #tokens: number[] = [];
  #circumstances: Circumstances = circumstancesOf(undefined, undefined);
  #isBusy = false;

  /** @internal */
  constructor(caches: readonly KVCache[], maxLength: number) {
    this.#caches = caches;
    this.maxLength = maxLength;
  }

  /** The number of tokens that it holds. */
  get length(): number {
    return this.#tokens.length;
  }

  /** The tokens that it holds. */
  get tokens(): readonly number[] {
    return [...this.#tokens];
  }

  /** Keeps the first `length` tokens and forgets the others. */
  async truncate(length: number): Promise<void> {
    const where = "ModelCache.truncate";
    if (this.#isBusy) throw new HeedError("option", `${where}: the cache must not be in use, got one that a text uses`);
    await this.#cut(readCount(where, "length", length, 0, this.#tokens.length, 0));
  }

  async #cut(kept: number): Promise<void> {
    await Promise.all(this.#caches.map((cache) => cache.truncate(kept)));
    this.#tokens.length = kept;
  }

  dispose(): void {
    for (const cache of this.#caches) cache.dispose();
    this.#tokens = [];
  }

  [DISPOSE](): void {
    this.dispose();
  }

  /** @internal Begins a text with these tokens, and returns how many of them it holds; the last one is always left to compute. */
  async begin(where: string, tokens: readonly number[], circumstances: Circumstances): Promise<number> {
    if (this.#isBusy)
      throw new HeedError("option", `${where}: cache must be used by one text at a time, got one in use`);
    const differs = this.#tokens.findIndex((token, at) => token !== tokens[at]);
    const common = differs === -1 ? this.#tokens.length : differs;
    const kept = isSame(this.#circumstances, circumstances) ? Math.min(common, tokens.length - 1) : 0;
    this.#isBusy = true;
    try {
      await this.#cut(kept);
    } catch (error) {
      this.#isBusy = false;
      throw error;
    }
    this.#circumstances = circumstances;
    return kept;
  }

  /** @internal What caches must have in common to be read together. */
  get options(): string {
    return this.#caches
      .map(({ kvHeads, headDim, valueDim, maxLength, dtype }) => [kvHeads, headDim, valueDim, maxLength, dtype].join())
      .join(";");
  }

  /** @internal For `forward`. */
  get caches(): readonly KVCache[] {
    return this.#caches;
  }

  /** @internal These were computed. */
  took(tokens: readonly number[]): void {
    for (const token of tokens) this.#tokens.push(token);
  }

  /** @internal */
  end(): void {
    this.#isBusy = false;
  }
}

export async function createModelCache(
  where: string,
  model: Layer,
  positions: number | undefined,
  options: unknown,
): Promise<ModelCache> {
  const given = readRecord(where, "options", options, ["maxLength", "dtype"]);
  const maxLength = readCount(where, "maxLength", given["maxLength"], positions ?? 4096);
  const dtype = readChoice(where, "dtype", given["dtype"], ["f32", "f16", "i8"], "f32");
  const engine: Heed = await Layer.engineOf(model).heed();
  const caches: KVCache[] = [];
  try {
    for (const sizes of sizesOf(model)) caches.push(await engine.createCache({ ...sizes, maxLength, dtype }));
  } catch (error) {
    for (const cache of caches) cache.dispose();
    throw error;
  }
  return new ModelCache(caches, maxLength);
}

/** The heads of each layer's cache, by its projections. */
function sizesOf(model: Layer): { readonly kvHeads: number; readonly headDim: number; readonly valueDim: number }[] {
  const layers = new Map(Layer.layersOf(model));
  return [...layers].flatMap(([path, layer]) => {
    if (!(layer instanceof MultiHeadAttention) || !/(?:^|\.)layers\.\d+\.self_attn$/.test(path)) return [];
    const { kvHeads } = layer;
    const dimOf = (name: string): number => {
      const projection = layers.get(`${path}.${name}`);
      return projection instanceof Linear ? projection.outFeatures / kvHeads : 0;
    };
    return [{ kvHeads, headDim: dimOf("k_proj"), valueDim: dimOf("v_proj") }];
  });
}
