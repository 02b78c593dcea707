// Attention over words in some order, with one kind of position, every intermediate kept. The page's own arithmetic.

import { at, fill, type Matrix, multiply, toSingle, transpose } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { addedTo, rotated, scoreBias } from "./positions.js";
import type { OrderState } from "./state.js";
import { ANSWERS, ASKS, WIDTH } from "./vectors.js";

export interface Attended {
  /** What is added to the vectors; undefined where nothing is. */
  readonly added: Matrix | undefined;
  /** The vectors with what was added. */
  readonly x: Matrix;
  /** Before they are turned; the same as q and k but for rotary positions. */
  readonly plainQ: Matrix;
  readonly plainK: Matrix;
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly bias: Matrix;
  /** Scaled, with bias; -Infinity where causal hides. */
  readonly scores: Matrix;
  readonly weights: Matrix;
  readonly output: Matrix;
}

export const SCALE = 1 / Math.sqrt(WIDTH);

/** `vectors`: one row a word, in the order in which they stand. */
export function attend(vectors: Matrix, state: OrderState, shift: number): Attended {
  const { rows } = vectors;
  const added = addedTo(state, rows, shift);
  const x =
    added === undefined ? vectors : fill(rows, WIDTH, (row, col) => at(vectors, row, col) + at(added, row, col));
  const [plainQ, plainK, v] = [multiply(x, ASKS), multiply(x, ANSWERS), toSingle(x)];
  const turn = (matrix: Matrix): Matrix =>
    // Rounded here, so that page and kernel start from the same numbers.
    toSingle(state.kind === "rope" ? rotated(matrix, state.base, shift) : matrix);
  const [q, k] = [turn(plainQ), turn(plainK)];
  const bias = fill(rows, rows, (row, col) => scoreBias(state, row, col));
  const products = multiply(q, transpose(k));
  const scores = fill(rows, rows, (row, col) =>
    state.kind === "causal" && col > row
      ? Number.NEGATIVE_INFINITY
      : at(products, row, col) * SCALE + at(bias, row, col),
  );
  const weights = softmax(scores);
  return { added, x, plainQ, plainK, q, k, v, bias, scores, weights, output: multiply(weights, v) };
}
