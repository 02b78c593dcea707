// Looks for inputs with large errors: random restarts, and from each a climb by small changes that are kept where the error grows.

import { attention } from "heed/reference";
import { exactGradients } from "./gradients.js";
import { worst } from "./measures.js";
import { Random } from "./random.js";

const [HEADS, QUERIES, KEYS, DIM] = [1, 3, 40, 16];

/** @typedef {{ readonly data: Float32Array, readonly shape: readonly number[] }} Input numbers from -1 to 1, so that scores are at most 4 */

/**
 * @param {readonly Input[]} inputs
 * @param {Random} random
 * @returns {Input[]}
 */
function changed(inputs, random) {
  const chosen = random.below(inputs.length);
  return inputs.map(({ data, shape }, at) => {
    if (at !== chosen) return { data, shape };
    const next = data.slice();
    for (let count = 1 + random.below(4); count > 0; count--) {
      const place = random.below(next.length);
      const kind = random.below(3);
      next[place] = kind === 0 ? random.number() : kind === 1 ? Math.sign(random.number()) : (next[place] ?? 0) * 0.9;
    }
    return { data: next, shape };
  });
}

/**
 * The largest error of all restarts before the climbs, after them, and the seed of the restart that led there.
 * @param {(inputs: readonly Input[]) => Promise<number>} errorOf
 * @param {{ restarts: number, steps: number, inputs: number }} effort `inputs`: 3, or 4 with the gradient of the output
 */
export async function search(errorOf, { restarts, steps, inputs }) {
  let found = { drawn: 0, climbed: 0, seed: 0 };
  for (let seed = 1; seed <= restarts; seed++) {
    const random = new Random(seed);
    const sizes = [QUERIES, KEYS, KEYS, QUERIES].slice(0, inputs);
    /** @type {readonly Input[]} */
    let best = sizes.map((rows) => ({ data: random.numbers(HEADS * rows * DIM), shape: [HEADS, rows, DIM] }));
    let error = await errorOf(best);
    const drawn = Math.max(found.drawn, error);
    for (let step = 0; step < steps; step++) {
      const next = changed(best, random);
      const of = await errorOf(next);
      if (of > error) [best, error] = [next, of];
    }
    found = error > found.climbed ? { drawn, climbed: error, seed } : { ...found, drawn };
  }
  return found;
}

/** Of the output. @param {import("heed").Heed} heed @param {import("./run.js").Options} options */
export const outputError = (heed, options) => async (/** @type {readonly Input[]} */ inputs) => {
  const [q, k, v] = inputs;
  if (q === undefined || k === undefined || v === undefined) throw new Error("three inputs");
  const { output } = heed.attentionSync(q, k, v, { ...options, keep: false });
  return worst(output.data, attention(q, k, v, options).output.data);
};

/** Of the worst of three gradients. @param {import("heed").Heed} heed @param {import("./run.js").Options} options */
export const gradientError = (heed, options) => async (/** @type {readonly Input[]} */ inputs) => {
  const [q, k, v, ofOutput] = inputs;
  if (q === undefined || k === undefined || v === undefined || ofOutput === undefined) throw new Error("four inputs");
  const { backward } = await heed.attentionVjp(q, k, v, options);
  const { dq, dk, dv } = await backward(ofOutput);
  const exact = exactGradients(q, k, v, ofOutput.data, options);
  return Math.max(worst(dq.data, exact.dq), worst(dk.data, exact.dk), worst(dv.data, exact.dv));
};
