// The causal model as a whole, with a KV cache and without: how long a word takes, and whether both say the same.

import type { Heed, KVCache } from "heed";
import { GPT2Model } from "heed/layers";
import { CONFIG, loadParameters, withoutHeads } from "../../src/language/inside.js";
import { HEAD_DIM, HEADS, LAYERS, LONGEST, probabilitiesOf } from "../../src/language/words.js";

const RUNS = 5;

export type CachedModel = Awaited<ReturnType<typeof openCached>>;
export type Taken = NonNullable<Awaited<ReturnType<CachedModel["read"]>>>;

export async function openCached(engine: Heed, off: readonly number[]) {
  const parameters = withoutHeads(await loadParameters("causal"), "causal", off);
  const size = { kvHeads: HEADS, headDim: HEAD_DIM, maxLength: LONGEST };
  const caches: readonly KVCache[] = await Promise.all(Array.from({ length: LAYERS }, () => engine.createCache(size)));
  const model = new GPT2Model(CONFIG, { engine }).load(parameters);
  const truncate = (kept: number) => Promise.all(caches.map((cache) => cache.truncate(kept)));
  let known: readonly number[] = [];
  return {
    /** Reads these words: those that are in the caches already are not computed again. One more word than there are is timed. */
    async read(ids: readonly number[]) {
      const other = known.findIndex((id, at) => id !== ids[at]);
      // At least the last word is read, for its logits.
      const kept = Math.min(other < 0 ? known.length : other, ids.length - 1);
      if (kept < known.length) await truncate(kept);
      const isNext = kept > 0 && kept === known.length && ids.length === kept + 1;
      known = ids;
      const next = () => model.forward(ids.slice(kept), { caches, last: true });
      const one = await next();
      if (!isNext) return undefined;
      const all = await model.forward(ids, { last: true });
      const whole = await least(() => model.forward(ids, { last: true }));
      const cached = await least(next, () => truncate(kept));
      const [own = [], others = []] = [one, all].map(({ logits }) => Array.from(probabilitiesOf(logits.data)));
      const gaps = own.map((probability, id) => Math.abs(probability - (others[id] ?? Number.NaN)));
      // Milliseconds, and how far the probabilities of both are apart at most.
      return { words: ids.length, cached, whole, apart: Math.max(...gaps) };
    },
    dispose(): void {
      for (const part of [model, ...caches]) part.dispose();
    },
  };
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
