// The rows in the small window as a call of heed, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, type Matrix } from "../../src/model/matrix.js";
import type { BringScene } from "./scene.js";

export interface BringAnswer {
  /** Of the window. */
  readonly shares: Matrix;
  /** Over whole rows, all keys. */
  readonly difference: number;
  readonly compared: number;
}

/** None where weights are as they were brought. */
export function callsOf({ source, vectors, cells, at: { causal } }: BringScene): readonly Call[] {
  if (vectors === undefined) return [];
  const { width, q, k } = vectors;
  const { queries, keys } = source;
  return [
    {
      q: { data: q.subarray(cells.top * width, (cells.top + cells.rows) * width), shape: [1, 1, cells.rows, width] },
      k: { data: k, shape: [1, 1, keys, width] },
      // Only the weights are looked at.
      v: { data: new Float32Array(keys), shape: [1, 1, keys, 1] },
      options: causal ? { causal: true, qOffset: cells.top + keys - queries } : {},
    },
  ];
}

export function readAnswers({ source, cells }: BringScene, [found]: readonly Answer[]): BringAnswer | undefined {
  if (found === undefined || cells.own === undefined) return undefined;
  const { data } = found.weights;
  const { keys } = source;
  let difference = 0;
  cells.own.forEach(({ shares }, row) => {
    shares.forEach((share, key) => {
      difference = Math.max(difference, Math.abs(share - (data[row * keys + key] ?? Number.NaN)));
    });
  });
  const shares = fill(cells.rows, cells.cols, (row, col) => data[row * keys + cells.left + col] ?? Number.NaN);
  return { shares, difference, compared: cells.rows * keys };
}
