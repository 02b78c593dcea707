// A long run of mixed load in Node: `npm run soak -- --minutes 30`. It prints memory and handles each minute (a twelfth of a shorter run)
// and fails when they have grown.

import { parseArgs } from "node:util";
import { createHeed } from "heed";
import { table } from "../table.js";
import { grown } from "./judge.js";
import { round } from "./load.js";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "30" }, seed: { type: "string", default: "1" } },
});
const minutes = Number(values.minutes);
const first = Number(values.seed);
if (!(minutes > 0) || !Number.isSafeInteger(first)) throw new Error("npm run soak takes --minutes N and --seed N");

const MINUTE = 60_000;
const every = Math.min(MINUTE, (minutes * MINUTE) / 12);
const heads = [
  "minutes",
  "rounds",
  "heap MiB",
  "buffers MiB",
  "resident MiB",
  "handles",
  "engine MiB",
  "workers MiB",
  "tensors",
];
const mib = (/** @type {number} */ bytes) => (bytes / 2 ** 20).toFixed(2);

const heed = await createHeed({ backend: "wasm", threads: 2 });
console.log(`${JSON.stringify(heed.capabilities)}\nseed ${first}\n`);
/** @type {import("./judge.js").Sample[]} */
const samples = [];
/** @type {string[][]} */
const rows = [];
const start = performance.now();
let rounds = 0;
for (let next = start + every; samples.length === 0 || next <= start + minutes * MINUTE + 1; next += every) {
  while (performance.now() < next) await round(heed, first + rounds++);
  await settled();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { engine, workers, tensors } = heed.memory();
  const handles = process.getActiveResourcesInfo().length;
  const sample = {
    minutes: (performance.now() - start) / MINUTE,
    heap: heapUsed,
    buffers: external,
    handles,
    engine,
    workers,
    tensors,
  };
  samples.push(sample);
  rows.push([
    sample.minutes.toFixed(1),
    `${rounds}`,
    mib(heapUsed),
    mib(external),
    mib(rss),
    `${handles}`,
    mib(engine),
    mib(workers),
    `${tensors}`,
  ]);
  console.log(`  ${heads.map((head, at) => `${head} ${rows.at(-1)?.[at]}`).join(", ")}`);
}
heed.dispose();
const found = grown(samples);
console.log(`\n${table(heads, rows)}\n\n${found.length === 0 ? "nothing grew" : found.join("\n")}`);
process.exit(found.length === 0 ? 0 : 1);

/** Finalisers run after a collection, and what they let go of goes with the next one. */
async function settled() {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
