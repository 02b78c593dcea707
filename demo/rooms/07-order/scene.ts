// The numbers of the room: attention over the words as they stand and as written, with one kind of position and every intermediate kept, and
// how far the outputs are apart. The page's own arithmetic.

import { at, fill, type Matrix, multiply, toSingle, transpose } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { addedTo, rotated, scoreBias } from "./positions.js";
import { type OrderState, placesOf, wordsOf } from "./state.js";
import { ANSWERS, ASKS, vectorsOf, WIDTH } from "./vectors.js";

export type Attended = ReturnType<typeof attend>;
export type OrderScene = ReturnType<typeof sceneOf>;

export const SCALE = 1 / Math.sqrt(WIDTH);

/** `vectors`: one row a word, in the order in which they stand. */
export function attend(vectors: Matrix, state: OrderState, shift: number) {
  const { rows } = vectors;
  const added = addedTo(state, rows, shift);
  const x =
    added === undefined ? vectors : fill(rows, WIDTH, (row, col) => at(vectors, row, col) + at(added, row, col));
  // The plain ones are not turned yet.
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

export function sceneOf(state: OrderState) {
  /** In the order of the text, and so are their vectors and what is written. */
  const words = wordsOf(state);
  const vectors = state.numbers ?? vectorsOf(words);
  /** The word of the text at each place. */
  const places = placesOf(state);
  const labels = places.map((word) => words[word] ?? "");
  const now = attend(reordered(vectors, places), state, state.shift);
  const written = attend(vectors, state, 0);
  return { state, words, vectors, places, labels, now, written, difference: gap(now.output, written.output, places) };
}

/** The words in any order, where the sentence stands now. */
export function attendIn({ vectors, state }: OrderScene, places: readonly number[]): Attended {
  return attend(reordered(vectors, places), state, state.shift);
}

export function reordered(matrix: Matrix, places: readonly number[]): Matrix {
  return fill(matrix.rows, matrix.cols, (row, col) => at(matrix, places[row] ?? 0, col));
}

/** Rows of `output` less those of `written` for the same word. */
export function gap(output: Matrix, written: Matrix, places: readonly number[]): Matrix {
  return fill(output.rows, output.cols, (row, col) => at(output, row, col) - at(written, places[row] ?? 0, col));
}
