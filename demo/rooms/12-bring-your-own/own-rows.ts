// One row of attention by the page's own arithmetic, in double precision: what the kernel's rows are held against.

import type { Vectors } from "./source.js";

export interface OwnRow {
  /** Of every key; -Infinity where it is hidden. */
  readonly scores: Float64Array;
  readonly most: number;
  /** Of e to each score less the largest. */
  readonly sum: number;
  readonly shares: Float64Array;
}

/** `last`: the last key that the query may see. */
export function ownRow({ width, q, k }: Vectors, query: number, keys: number, last: number): OwnRow {
  const scores = new Float64Array(keys).fill(Number.NEGATIVE_INFINITY);
  const scale = 1 / Math.sqrt(width);
  let most = Number.NEGATIVE_INFINITY;
  for (let key = 0; key <= Math.min(last, keys - 1); key++) {
    let dot = 0;
    for (let part = 0; part < width; part++) dot += (q[query * width + part] ?? 0) * (k[key * width + part] ?? 0);
    scores[key] = dot * scale;
    most = Math.max(most, dot * scale);
  }
  const shares = new Float64Array(keys);
  let sum = 0;
  for (let key = 0; key <= Math.min(last, keys - 1); key++) {
    shares[key] = Math.exp((scores[key] ?? 0) - most);
    sum += shares[key] ?? 0;
  }
  for (let key = 0; key <= Math.min(last, keys - 1); key++) shares[key] = (shares[key] ?? 0) / sum;
  return { scores, most, sum, shares };
}
