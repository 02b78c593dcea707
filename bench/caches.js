// Decode (one query) from f16 and int8 KV caches, as ratios to an f32 cache. The three alternate in one run, and medians of the
// rounds' ratios are printed. `node bench/caches.js [threads]`, after `npm run build`.

import { createHeed } from "heed";
import { cases, median, random, rounds } from "./numbers.js";

/** K and V of the first shape stay in the last-level cache; those of the next two fill 128 MiB in f32. */
const SHAPES = [
  { heads: 8, keys: 4096, dim: 64 },
  { heads: 32, keys: 8192, dim: 64 },
  { heads: 32, keys: 4096, dim: 128 },
  { heads: 8, queryHeads: 32, keys: 32768, dim: 64 },
];
const DTYPES = /** @type {const} */ (["f32", "f16", "i8"]);
const ROUNDS = rounds(31);

const threads = Number(process.argv[2] ?? 1);
const heed = await createHeed({ threads, ...(threads === 1 && { offload: false }) });
const tensor = (/** @type {number[]} */ ...shape) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, random),
  shape,
});

console.log(`${heed.capabilities.variant}, ${threads} threads: ms with f32; speed-up with f16, int8`);
for (const { heads, queryHeads = heads, keys, dim } of cases(SHAPES)) {
  const [key, value] = [tensor(1, heads, keys, dim), tensor(1, heads, keys, dim)];
  const query = heed.tensor(tensor(1, queryHeads, 1, dim).data, [1, queryHeads, 1, dim]);
  const none = { data: new Float32Array(0), shape: [1, heads, 0, dim] };
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
  /** Milliseconds a round, for each cache. */
  const times = caches.map(() => [0]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [n, cache] of caches.entries()) times[n]?.push(await timed(cache));
  }
  const [f32 = [], ...others] = times.map(([, ...rounds]) => rounds);
  const speeds = others.map((own) => median(own.map((time, round) => (f32[round] ?? Number.NaN) / time)).toFixed(2));
  console.log(
    `${queryHeads}/${heads} heads, ${keys} keys, dim ${dim}: ${median(f32).toFixed(2)} ms, ${speeds.join(", ")}`,
  );
  for (const cache of caches) cache.dispose();
}
heed.dispose();
