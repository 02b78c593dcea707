// The softmax of a matrix, row by row, with what it is made from.

import { at, fill, type Matrix } from "./matrix.js";

export interface RowSum {
  readonly most: number;
  /** The sum of e^(score - row max); 0 for a row of nothing but -Infinity. */
  readonly sum: number;
}

export function rowSum(scores: Matrix, row: number): RowSum {
  let most = Number.NEGATIVE_INFINITY;
  for (let col = 0; col < scores.cols; col++) most = Math.max(most, at(scores, row, col));
  let sum = 0;
  // A row that sees nothing: -Infinity less -Infinity would be NaN.
  if (most > Number.NEGATIVE_INFINITY) {
    for (let col = 0; col < scores.cols; col++) sum += Math.exp(at(scores, row, col) - most);
  }
  return { most, sum };
}

/** A row that sees nothing gives zeros. */
export function softmax(scores: Matrix): Matrix {
  return fill(scores.rows, scores.cols, (row, col) => {
    const { most, sum } = rowSum(scores, row);
    return sum === 0 ? 0 : Math.exp(at(scores, row, col) - most) / sum;
  });
}
