// The models that are trained: GPT-2 of a width and so many layers, "96x3".

/** @typedef {import("../pages/peer.js").Model} Model */

/** Of 0.4, 0.8, 2.7 and 6.4 million parameters. */
export const MODELS = ["96x3", "128x4", "192x6", "256x8"];

/** As in pages/gpt2.ts. */
const [BATCH, CONTEXT, VOCABULARY] = [16, 64, 256];

export const TOKENS = BATCH * CONTEXT;

/** @param {string} name @returns {Model} */
export function modelOf(name) {
  const [dim = Number.NaN, layers = Number.NaN] = name.split("x").map(Number);
  return { dim, layers };
}

/** Floating-point operations of the matrix products of a step: the forward pass three times. @param {Model} model */
export function stepFlopsOf({ dim, layers }) {
  const linear = 2 * TOKENS * (12 * layers * dim * dim + VOCABULARY * dim);
  return 3 * (linear + 4 * layers * TOKENS * CONTEXT * dim);
}
