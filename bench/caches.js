// One query against caches of halves and bytes, as ratios to a cache of floats: the three take turns in one run, and medians of the
// rounds' ratios are printed. `node bench/caches.js [threads]`, after `npm run build`.

import { createHeed } from "heed";

/** Batches that take from 100 ms up to prepare are no longer in any cache. */
const SHAPES = [
  { heads: 32, keys: 8192, dim: 64 },
  { heads: 32, keys: 4096, dim: 128 },
  { heads: 8, keys: 4096, dim: 64 },
  { heads: 8, queryHeads: 32, keys: 32768, dim: 64 },
];
const DTYPES = /** @type {const} */ (["f32", "f16", "i8"]);
const ROUNDS = 31;

const threads = Number(process.argv[2] ?? 1);
const heed = await createHeed({ threads, ...(threads === 1 && { offload: false }) });
let state = 1;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return state / 2 ** 31;
};
const tensor = (/** @type {number[]} */ ...shape) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, random),
  shape,
});
const median = (/** @type {number[]} */ numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

console.log(`${heed.capabilities.variant}, ${threads} threads: ms with f32; times its speed with halves, bytes`);
for (const { heads, queryHeads = heads, keys, dim } of SHAPES) {
  const [key, value] = [tensor(1, heads, keys, dim), tensor(1, heads, keys, dim)];
  const query = heed.tensor(tensor(1, queryHeads, 1, dim).data, [1, queryHeads, 1, dim]);
  const none = tensor(1, heads, 1, dim);
  none.shape = [1, heads, 0, dim];
  none.data = new Float32Array(0);
  const caches = [];
  for (const dtype of DTYPES) {
    const cache = await heed.createCache({ batch: 1, kvHeads: heads, headDim: dim, maxLength: keys, dtype });
    await cache.append(key, value);
    caches.push(cache);
  }
  const timed = async (/** @type {import("heed").KVCache} */ cache) => {
    const start = performance.now();
    await heed.attention(query, none, none, { cache });
    return performance.now() - start;
  };
  for (const cache of caches) await timed(cache);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times = [];
    for (const cache of caches) times.push(await timed(cache));
    rounds.push(times);
  }
  const [, ...others] = DTYPES.map((_, n) => median(rounds.map((times) => times[0] / times[n])));
  const ms = median(rounds.map(([first]) => first));
  console.log(
    `${queryHeads}/${heads} heads, ${keys} keys, dim ${dim}: ${ms.toFixed(2)} ms, ${others.map((x) => x.toFixed(2)).join(", ")}`,
  );
  for (const cache of caches) cache.dispose();
}
heed.dispose();
