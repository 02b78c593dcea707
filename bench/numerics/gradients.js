// The gradients of attention in double precision, of the weights and scores of heed/reference: dV = P^T dO, dS = P (dO V^T - delta), and
// back through the softcap.

import { attention } from "heed/reference";

/** @typedef {import("./measures.js").Numbers} Numbers */

/**
 * All of [heads, rows, dim], with as many heads of keys as of queries.
 * @param {Numbers} q @param {Numbers} k @param {Numbers} v @param {ArrayLike<number>} ofOutput
 * @param {import("heed/reference").ReferenceOptions} options of softmax
 * @returns {{ dq: Float64Array, dk: Float64Array, dv: Float64Array }}
 */
export function exactGradients(q, k, v, ofOutput, options) {
  const [heads = 0, queries = 0, dim = 0] = q.shape;
  const keys = k.shape[1] ?? 0;
  const { softcap, temperature = 1, scale = 1 / Math.sqrt(dim) } = options;
  const kept = attention(q, k, v, options);
  const { weights } = options.dropout ? attention(q, k, v, { ...options, dropout: undefined }) : kept;
  const [dq, dk, dv] = [q, k, v].map(({ data }) => new Float64Array(data.length));
  if (dq === undefined || dk === undefined || dv === undefined) throw new Error("three gradients");
  const number = (/** @type {ArrayLike<number>} */ of, /** @type {number} */ at) => of[at] ?? Number.NaN;
  for (let row = 0; row < heads * queries; row++) {
    const first = Math.floor(row / queries) * keys;
    const ofWeights = new Float64Array(keys);
    let delta = 0;
    for (let j = 0; j < keys; j++) {
      const [p, used] = [number(weights.data, row * keys + j), number(kept.weights.data, row * keys + j)];
      if (p === 0) continue;
      let slope = 0;
      for (let d = 0; d < dim; d++) {
        const place = (first + j) * dim + d;
        slope += number(ofOutput, row * dim + d) * number(v.data, place);
        dv[place] = number(dv, place) + used * number(ofOutput, row * dim + d);
      }
      ofWeights[j] = slope * (used / p);
      delta += p * number(ofWeights, j);
    }
    for (let j = 0; j < keys; j++) {
      const p = number(weights.data, row * keys + j);
      if (p === 0) continue;
      const capped = number(kept.scores.capped.data, row * keys + j);
      const bend = softcap === undefined ? 1 : 1 - (capped / softcap) ** 2;
      const ofScore = ((p * (number(ofWeights, j) - delta) * scale) / temperature) * bend;
      for (let d = 0; d < dim; d++) {
        const [query, key] = [row * dim + d, (first + j) * dim + d];
        dq[query] = number(dq, query) + ofScore * number(k.data, key);
        dk[key] = number(dk, key) + ofScore * number(q.data, query);
      }
    }
  }
  return { dq, dk, dv };
}
