// Caches in a real page: the engine that it gets by itself gives what all keys and values give.

import { expect, inject, test } from "vitest";
import { createHeed, type TensorLike } from "../../web/src/index.js";
import { type CachedOptions, cacheFor, inChunks, kept, randomCuts, TYPES } from "../support/cached.js";
import { cases, EVERYTHING, firstDifferentBit, firstError } from "../support/cases.js";
import { Random } from "../support/random.js";

const SEED = 71;
const problems = cases(SEED, 24).filter(({ options }) => options.cuSeqlensQ === undefined);

test.each(TYPES)(
  `a cache of %s gives what all of its keys and values give (isolated: ${inject("isolated")})`,
  async (dtype) => {
    const random = new Random(SEED);
    using heed = await createHeed({ offload: true, threads: 2 });
    for (const plain of problems) {
      const one = kept(random, plain, dtype);
      const cuts = randomCuts(random, one.sizes.keyLength);
      using cache = await heed.createCache(cacheFor(one, { dtype }));
      const options: CachedOptions = { ...one.options, ...EVERYTHING, cache };
      const results = [];
      const attend = (key: TensorLike, value: TensorLike) => heed.attention(one.query, key, value, options);
      const attendSync = (key: TensorLike, value: TensorLike) =>
        Promise.resolve(heed.attentionSync(one.query, key, value, options));
      for (const call of [attend, attendSync]) {
        await cache.truncate(0);
        const result = await inChunks(heed, one, cache, cuts, call);
        expect(firstError(one, result)).toBe(null);
        results.push(result);
      }
      const [first, second] = results;
      if (first !== undefined && second !== undefined) expect(firstDifferentBit(first, second), one.name).toBe(null);
    }
    expect(heed.memory().tensors).toBe(0);
  },
);
