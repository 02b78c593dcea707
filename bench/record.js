// A few speeds for the record of a version, by the built package in Node on one thread: medians, printed as JSON.

import { availableParallelism, cpus } from "node:os";
import { createHeed } from "heed";
import { GPT2Model } from "heed/layers";
import { AdamW, crossEntropy, gradients } from "heed/train";
import { median, random, rounds } from "./numbers.js";

const heed = await createHeed({ threads: 1, offload: false });

/** @param {readonly number[]} shape */
const drawn = (...shape) => ({ data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, random), shape });

/** @param {() => Promise<unknown>} call */
async function timed(call) {
  const samples = [];
  for (let round = -2; round < rounds(9); round++) {
    const start = performance.now();
    await call();
    if (round >= 0) samples.push(performance.now() - start);
  }
  return Number(median(samples).toPrecision(3));
}

/** @param {number} queries @param {number} keys */
function attention(queries, keys) {
  const [q, k, v] = [drawn(8, queries, 64), drawn(8, keys, 64), drawn(8, keys, 64)];
  return timed(() => heed.attention(q, k, v));
}

async function step() {
  const sizes = { n_embd: 96, n_layer: 3, n_head: 3, n_positions: 64, vocab_size: 256 };
  const model = new GPT2Model({ model_type: "gpt2", ...sizes }, { engine: heed }).init({ seed: 1 });
  const optimizer = new AdamW(model, { learningRate: 1e-4 });
  const data = Int32Array.from({ length: 16 * 64 }, (_, at) => (at * at) % 256);
  return timed(async () => {
    await gradients(model, async (pass) => {
      const { logits } = await model.forward({ data, shape: [16, 64] }, { pass });
      return { loss: await crossEntropy(logits, data, { pass }) };
    });
    await optimizer.step();
  });
}

const ms = {
  "8x1024x64": await attention(1024, 1024),
  "8x1:4096x64": await attention(1, 4096),
  "step 96x3": await step(),
};
const machine = `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores, Node ${process.versions.node}`;
console.log(JSON.stringify({ ms, machine }));
heed.dispose();
