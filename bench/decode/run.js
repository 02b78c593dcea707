// Decode, one query of 8 heads against 4096 keys with D = 64, alternating with plain reading of as many bytes by as many threads:
// `node bench/decode/run.js [threads]`, after `npm run build`. Rates count the bytes of K and V.

import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createHeed } from "heed";
import { buildPreset } from "../../scripts/lib/cmake.js";
import { root } from "../../scripts/make/root.js";
import { findToolchain } from "../../scripts/toolchain/find.js";
import { median, random, rounds } from "../numbers.js";

const [HEADS, KEYS, DIM] = [8, 4096, 64];
const NUMBERS = 2 * HEADS * KEYS * DIM;
const BYTES = NUMBERS * Float32Array.BYTES_PER_ELEMENT;
const ROUNDS = rounds(41);
/** The calls of a round. The warm calls load again what plain reading has evicted from the cache. */
const [WARM_CALLS, CALLS] = [8, 30];
const READING_MS = 15;

const threads = Number(process.argv[2] ?? 1);
const rate = (/** @type {number} */ ms) => (BYTES / ms) * 1e-6;

const toolchain = await findToolchain({ need: ["wasm", "native", "tests"], log: () => {} });
// Reading takes no relaxed SIMD, which Node 20 has behind a flag.
await buildPreset(toolchain, "wasm-simd", ["heed_peaks"]);
const program = join(root, "build", "wasm-simd", "bench", "cpp", "heed_peaks.wasm");
const readers = Array.from(
  { length: threads },
  () => new Worker(new URL("reader.js", import.meta.url), { workerData: program }),
);

/** Milliseconds of one reading, in which every thread reads a share. @param {number} repeats */
async function read(repeats) {
  const order = { repeats, numbers: NUMBERS / threads };
  const reports = await Promise.all(
    readers.map(async (reader) => {
      const report = once(reader, "message");
      reader.postMessage(order);
      return /** @type {{ start: number, end: number }[]} */ (await report)[0];
    }),
  );
  const ends = reports.map((report) => report?.end ?? Number.NaN);
  const starts = reports.map((report) => report?.start ?? Number.NaN);
  return (Math.max(...ends) - Math.min(...starts)) / repeats;
}

const heed = await createHeed({ threads, ...(threads === 1 && { offload: false }) });
const tensor = (/** @type {number} */ length) =>
  heed.tensor(
    Float32Array.from({ length: HEADS * length * DIM }, random),
    /** @type {const} */ ([1, HEADS, length, DIM]),
  );
const [query, key, value] = [tensor(1), tensor(KEYS), tensor(KEYS)];

async function call() {
  const start = performance.now();
  await heed.attention(query, key, value);
  return performance.now() - start;
}

let repeats = 1;
while (repeats * (await read(repeats)) < READING_MS) repeats *= 2;
for (let i = 0; i < 10 * CALLS; i++) await call();

/** @type {number[]} */ const readings = [];
/** @type {number[]} */ const calls = [];
/** @type {number[]} */ const shares = [];
for (let round = 0; round < ROUNDS; round++) {
  await read(repeats);
  const reading = await read(repeats);
  for (let i = 0; i < WARM_CALLS; i++) await call();
  const times = [];
  for (let i = 0; i < CALLS; i++) times.push(await call());
  const ofCall = median(times);
  readings.push(rate(reading));
  calls.push(rate(ofCall));
  shares.push(reading / ofCall);
}
console.log(`${heed.capabilities.variant}, ${threads} threads, medians of ${ROUNDS} rounds
reading ${median(readings).toFixed(1)} GB/s, calls ${median(calls).toFixed(1)} GB/s, ${Math.round(100 * median(shares))} % of read bandwidth`);
heed.dispose();
await Promise.all(readers.map((reader) => reader.terminate()));
