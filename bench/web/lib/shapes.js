// The shapes: written as heads x length x dim, "8x1024x64"; "77:1024" is queries:keys, "32/8" query heads/key heads, and a
// trailing c is causal.

/** @typedef {import("../pages/peer.js").Problem} Problem */

const NAME = /^(\d+)(?:\/(\d+))?x(\d+)(?::(\d+))?x(\d+)(c?)$/;

/**
 * @param {string} name
 * @returns {Problem}
 */
export function shapeOf(name) {
  const parts = NAME.exec(name);
  if (parts === null) throw new Error(`a shape is written like 8x1024x64, 32/8x1:4096x128 or 1x64x64c, not ${name}`);
  const [, heads = "", kvHeads = heads, queries = "", keys = queries, dim = "", causal] = parts;
  return {
    heads: Number(heads),
    kvHeads: Number(kvHeads),
    queries: Number(queries),
    keys: Number(keys),
    dim: Number(dim),
    causal: causal === "c",
  };
}

const SQUARE = ["1x64x64", "8x128x64", "12x512x64", "8x1024x64", "8x1024x128", "8x2048x64", "4x4096x64", "1x8192x64"];
const CROSS = ["8x77:1024x64", "8x1024:77x64"];
export const DECODE = ["8x1:4096x64", "32/8x1:4096x128"];
export const PREFILL = [...SQUARE, ...SQUARE.map((name) => `${name}c`), ...CROSS];

/** The shapes, beside those of the peers, where the speed-up by threads has an aim. */
export const SCALING = ["8x256x64"];
export const ALL = [...SQUARE, ...SCALING, ...SQUARE.map((name) => `${name}c`), ...CROSS, ...DECODE];
export const QUICK = ["1x64x64", "8x1024x64", "8x1024x64c", "8x1:4096x64"];

export const BACKWARD = ["8x1024x64", "8x1024x64c", "4x4096x64", "4x4096x64c"];

/** Floating-point operations: 4 H L S D, half of that when causal. @param {Problem} problem */
export function flopsOf({ heads, queries, keys, dim, causal }) {
  return 4 * heads * queries * keys * dim * (causal ? 0.5 : 1);
}

/** Bytes of K and V. @param {Problem} problem */
export function keyBytesOf({ kvHeads, keys, dim }) {
  return 2 * 4 * kvHeads * keys * dim;
}

/** Bytes of the scores, which most peers hold whole. @param {Problem} problem */
export function scoreBytesOf({ heads, queries, keys }) {
  return 4 * heads * queries * keys;
}
