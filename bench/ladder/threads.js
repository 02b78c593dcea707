// The last rung in WebAssembly, where JavaScript makes the threads: the built package on one thread and on two, alternating. It prints
// one JSON object, or nothing when heed gets no second thread here. Both results must be the same to the bit.

import { createHeed } from "../../dist/index.js";
import { median } from "../web/lib/summary.js";

const SHAPE = [1, 4, 512, 64];
const ROUNDS = 15;
const WARM_UP = 5;

/** @param {number} phase */
const numbers = (phase) => Float32Array.from({ length: 4 * 512 * 64 }, (_, i) => Math.sin(i * i + phase));

/** @param {number} threads */
async function open(threads) {
  const heed = await createHeed({ threads });
  const [query, key, value] = [
    heed.tensor(numbers(1), SHAPE),
    heed.tensor(numbers(2), SHAPE),
    heed.tensor(numbers(3), SHAPE),
  ];
  return { heed, attend: async () => (await heed.attention(query, key, value)).output.data };
}

/** @param {() => Promise<unknown>} work */
async function millisecondsOf(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const one = await open(1);
const two = await open(2);
const { threads, variant } = two.heed.capabilities;
if (threads === 2) {
  const [expected, got] = [await one.attend(), await two.attend()];
  const different = expected.findIndex((number, index) => number !== got[index]);
  if (different !== -1) throw new Error(`two threads give ${got[different]}, one gives ${expected[different]}`);
  for (let call = 0; call < WARM_UP; call++) await Promise.all([one.attend(), two.attend()]);
  const samples = { one: [0], two: [0] };
  for (let round = 0; round < ROUNDS; round++) {
    samples.one[round] = await millisecondsOf(one.attend);
    samples.two[round] = await millisecondsOf(two.attend);
  }
  console.log(JSON.stringify({ variant, oneMs: median(samples.one), twoMs: median(samples.two) }));
}
for (const { heed } of [one, two]) heed.dispose();
