// The softmax of a matrix, row by row, with what it is made from.

import { at, fill, type Matrix } from "./matrix.js";

/** The largest score, and the sum of e^(score - largest); 0 for a row of nothing but -Infinity. */
export function rowSum(scores: Matrix, row: number): { readonly most: number; readonly sum: number } {
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
