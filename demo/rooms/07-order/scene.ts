// The numbers of the room: the sentence as written and as it stands, and how far their outputs are apart.

import { at, fill, type Matrix } from "../../src/model/matrix.js";
import { type Attended, attend } from "./attend.js";
import { type OrderState, placesOf, wordsOf } from "./state.js";
import { vectorsOf } from "./vectors.js";

export interface OrderScene {
  readonly state: OrderState;
  /** In the order of the text. */
  readonly words: readonly string[];
  readonly vectors: Matrix;
  /** The word of the text at each place. */
  readonly places: readonly number[];
  readonly labels: readonly string[];
  readonly now: Attended;
  /** In the order of the text, at position 0. */
  readonly written: Attended;
  /** Output now, less that of the same word as written; rows stand as the words do. */
  readonly difference: Matrix;
}

export function sceneOf(state: OrderState): OrderScene {
  const words = wordsOf(state);
  const vectors = state.numbers ?? vectorsOf(words);
  const places = placesOf(state);
  const now = attend(reordered(vectors, places), state, state.shift);
  const written = attend(vectors, state, 0);
  return {
    state,
    words,
    vectors,
    places,
    labels: places.map((word) => words[word] ?? ""),
    now,
    written,
    difference: gap(now.output, written.output, places),
  };
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
