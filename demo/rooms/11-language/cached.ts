// The causal model as a whole, with a KV cache and without: how long a word takes, and whether both say the same.

import type { Heed, KVCache } from "heed";
import { GPT2Model } from "heed/layers";
import { CONFIG, loadParameters, withoutHeads } from "../../src/language/inside.js";
import { HEAD_DIM, HEADS, LAYERS, LONGEST, probabilitiesOf } from "../../src/language/words.js";

const RUNS = 5;

export interface Taken {
  /** Words that were read by then. */
  readonly words: number;
  /** Milliseconds. */
  readonly cached: number;
  readonly whole: number;
  /** How far the probabilities of both are apart at most. */
  readonly apart: number;
}

export class CachedModel {
  readonly #model: GPT2Model;
  readonly #caches: readonly KVCache[];
  #ids: readonly number[] = [];

  private constructor(model: GPT2Model, caches: readonly KVCache[]) {
    this.#model = model;
    this.#caches = caches;
  }

  static async open(heed: Heed, off: readonly number[]): Promise<CachedModel> {
    const parameters = withoutHeads(await loadParameters("causal"), "causal", off);
    const size = { kvHeads: HEADS, headDim: HEAD_DIM, maxLength: LONGEST };
    const caches = await Promise.all(Array.from({ length: LAYERS }, () => heed.createCache(size)));
    return new CachedModel(new GPT2Model(CONFIG, { engine: heed }).load(parameters), caches);
  }

  /** Reads these words: those that are in the caches already are not computed again. One more word than there are is timed. */
  async read(ids: readonly number[]): Promise<Taken | undefined> {
    const known = this.#ids.findIndex((id, at) => id !== ids[at]);
    // At least the last word is read, for its logits.
    const kept = Math.min(known < 0 ? this.#ids.length : known, ids.length - 1);
    if (kept < this.#ids.length) await Promise.all(this.#caches.map((cache) => cache.truncate(kept)));
    const isNext = kept > 0 && kept === this.#ids.length && ids.length === kept + 1;
    this.#ids = ids;
    const next = () => this.#model.forward(ids.slice(kept), { caches: this.#caches, last: true });
    const one = await next();
    if (!isNext) return undefined;
    const all = await this.#model.forward(ids, { last: true });
    const whole = await least(() => this.#model.forward(ids, { last: true }));
    const forget = () => Promise.all(this.#caches.map((cache) => cache.truncate(kept)));
    const cached = await least(next, forget);
    const [own = [], other = []] = [one, all].map(({ logits }) => Array.from(probabilitiesOf(logits.data)));
    const gaps = own.map((probability, id) => Math.abs(probability - (other[id] ?? Number.NaN)));
    return { words: ids.length, cached, whole, apart: Math.max(...gaps) };
  }

  dispose(): void {
    this.#model.dispose();
    for (const cache of this.#caches) cache.dispose();
  }
}

/** Milliseconds of the quickest of several runs: others may wait for work that goes on beside them. */
async function least(run: () => Promise<unknown>, prepare: () => Promise<unknown> = async () => {}): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let count = 0; count < RUNS; count++) {
    await prepare();
    const begun = performance.now();
    await run();
    quickest = Math.min(quickest, performance.now() - begun);
  }
  return quickest;
}
