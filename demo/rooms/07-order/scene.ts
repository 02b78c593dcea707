// The numbers of the room: the sentence as written and as it stands, how far their outputs are apart, and what each kind notices.

import { at, fill, type Matrix } from "../../src/model/matrix.js";
import { type Attended, attend } from "./attend.js";
import { KINDS, type Kind, type OrderState, placesOf, wordsOf } from "./state.js";
import { vectorsOf } from "./vectors.js";

/** What every kind of position is put to, whatever the reader does. */
export const MOVED_BY = 7;
export const TRIALS = ["as written", "swapped", "reversed", "moved"] as const;
export type Trial = (typeof TRIALS)[number];

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
  readonly trials: ReadonlyMap<Kind, Readonly<Record<Trial, Attended>>>;
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
    trials: new Map(KINDS.map((kind) => [kind, trialsOf(vectors, { ...state, kind })])),
  };
}

function trialsOf(vectors: Matrix, state: OrderState): Readonly<Record<Trial, Attended>> {
  return {
    "as written": attend(vectors, state, 0),
    swapped: attend(reordered(vectors, firstTwoSwapped(vectors.rows)), state, 0),
    reversed: attend(reordered(vectors, reverse(vectors.rows)), state, 0),
    moved: attend(vectors, state, MOVED_BY),
  };
}

export function reverse(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => count - 1 - index);
}

export function firstTwoSwapped(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => (index < 2 && count > 1 ? 1 - index : index));
}

function reordered(matrix: Matrix, places: readonly number[]): Matrix {
  return fill(matrix.rows, matrix.cols, (row, col) => at(matrix, places[row] ?? 0, col));
}

/** Rows of `output` less those of `written` for the same word. */
export function gap(output: Matrix, written: Matrix, places: readonly number[]): Matrix {
  return fill(output.rows, output.cols, (row, col) => at(output, row, col) - at(written, places[row] ?? 0, col));
}
