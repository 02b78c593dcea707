// One query against caches of halves and bytes, as ratios to a cache of floats: the three take turns in one run, and medians of the
// rounds' ratios are printed. `node bench/caches.js [threads]`, after `npm run build`.

import { createHeed } from "heed";
import { cases, median, random, rounds } from "./numbers.js";

/** The first keys and values stay in the last cache; those of the next two fill 128 MiB as floats. */
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

console.log(`${heed.capabilities.variant}, ${threads} threads: ms with f32; times its speed with halves, bytes`);
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
  /** Milliseconds of each cache, a round each. */
  const times = caches.map(() => [0]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [n, cache] of caches.entries()) times[n]?.push(await timed(cache));
  }
  const [floats = [], ...others] = times.map(([, ...rounds]) => rounds);
  const speeds = others.map((own) => median(own.map((time, round) => (floats[round] ?? Number.NaN) / time)).toFixed(2));
  console.log(
    `${queryHeads}/${heads} heads, ${keys} keys, dim ${dim}: ${median(floats).toFixed(2)} ms, ${speeds.join(", ")}`,
  );
  for (const cache of caches) cache.dispose();
}
heed.dispose();
