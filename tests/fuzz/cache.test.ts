// A KV cache against an array of rows: any order of appends, calls, truncations and reorderings leaves what it says.

import { afterAll, expect, test } from "vitest";
import type { TensorLike } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { exactInInt8, TYPES } from "../support/cached.js";
import { differentIndex } from "../support/cases.js";
import { PATIENCE, tried } from "../support/drawn.js";
import { openKinds } from "../support/engines.js";
import { boundsFor, withinOutput } from "../support/error-model.js";
import { scoreBound, withInt16Query } from "../support/score-error.js";

const engines = await openKinds();
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

/** The rows of all tokens of a batch entry. */
interface Past {
  readonly key: readonly number[][];
  readonly value: readonly number[][];
}

const MOST = 400;
const LAYOUT = { layout: "bnhd" } as const;

test(
  "appends, calls, truncations and reorderings in any order leave what they say, with the same bits on every kind of worker",
  async () => {
    await tried("cache", 60, async (random) => {
      const [batch, heads, dim, valueDim] = [
        random.whole(1, 3),
        random.whole(1, 2),
        random.whole(1, 8),
        random.whole(1, 6),
      ];
      const dtype = random.pick(TYPES);
      const sizes = { batch, kvHeads: heads, headDim: dim, valueDim, maxLength: MOST, dtype };
      const caches = await Promise.all(
        engines.map(async (engine) => ({ ...engine, cache: await engine.heed.createCache(sizes) })),
      );
      // Eighths of small numbers are exact in f16, and rows of int8 have a scale that is a power of two.
      const draw = (count: number, width: number): TensorLike => {
        const shape = [batch, count, heads, width];
        const data = random.floats(batch * count * heads * width).map((number) => Math.round(8 * number) / 8);
        return dtype === "i8" ? exactInInt8(random, { data, shape }, width) : { data, shape };
      };
      const rowsOf = ({ data }: TensorLike, entry: number, count: number, width: number): number[][] =>
        Array.from({ length: count }, (_, token) => {
          const first = (entry * count + token) * heads * width;
          return Array.from(data.subarray(first, first + heads * width));
        });
      let past: readonly Past[] = Array.from({ length: batch }, () => ({ key: [], value: [] }));
      const told: string[] = [];
      const steps = async (): Promise<void> => {
        for (let step = random.whole(1, 14); step > 0; step--) {
          const length = past[0]?.key.length ?? 0;
          const what = random.pick(["append", "attend", "attend", "truncate", "reorder"]);
          told.push(what);
          if (what === "truncate") {
            const left = random.whole(0, length);
            for (const { cache } of caches) await cache.truncate(left);
            past = past.map(({ key, value }) => ({ key: key.slice(0, left), value: value.slice(0, left) }));
          } else if (what === "reorder") {
            const order = Array.from({ length: batch }, () => random.whole(0, batch - 1));
            for (const { cache } of caches) await cache.reorder(order);
            past = order.map((index) => past[index] ?? { key: [], value: [] });
          } else {
            const count = Math.min(random.pick([1, 0, 5, 60, 97]), MOST - length);
            const [key, value] = [draw(count, dim), draw(count, valueDim)];
            past = past.map((one, entry) => ({
              key: [...one.key, ...rowsOf(key, entry, count, dim)],
              value: [...one.value, ...rowsOf(value, entry, count, valueDim)],
            }));
            if (what === "append") {
              for (const { cache } of caches) await cache.append(key, value, LAYOUT);
            } else {
              const queries = random.whole(1, 3);
              const query = { data: random.floats(batch * queries * heads * dim), shape: [batch, queries, heads, dim] };
              const all = (part: "key" | "value", width: number): TensorLike => ({
                data: Float32Array.from(past.flatMap((one) => one[part].flat())),
                shape: [batch, length + count, heads, width],
              });
              const [keys, values] = [all("key", dim), all("value", valueDim)];
              const exact = reference(query, keys, values, LAYOUT).output.data;
              const plain = scoreBound(undefined, 1 / Math.sqrt(dim), {
                query,
                key: keys,
                queryDim: dim,
                headDim: dim,
              });
              const score = dtype === "i8" ? withInt16Query(plain, dim) : plain;
              const bounds = boundsFor(length + count, { value: values }, score);
              const bits = new Map<string, Float32Array>();
              for (const { name, variant, heed, cache } of caches) {
                const { output } = await heed.attention(query, key, value, { cache, ...LAYOUT });
                const wrong = output.data.findIndex(
                  (number, at) => !withinOutput(number, exact[at] ?? Number.NaN, bounds),
                );
                expect(wrong, `${name}, ${dtype}: ${told}`).toBe(-1);
                if (!bits.has(variant)) bits.set(variant, output.data);
                expect(differentIndex(output.data, bits.get(variant) ?? output.data), `${name}: ${told}`).toBe(-1);
              }
            }
          }
          for (const { cache, name } of caches) expect(cache.length, `${name}: ${told}`).toBe(past[0]?.key.length);
        }
      };
      try {
        await steps();
      } finally {
        for (const { cache } of caches) cache.dispose();
      }
      for (const { heed, name } of caches) expect(heed.memory().tensors, `${name}: ${told}`).toBe(0);
    });
  },
  PATIENCE,
);
