// The ways in which words can be given positions: added to vectors, turned into queries and keys, or added to scores.

import { at, fill, type Matrix } from "../../src/model/matrix.js";
import { normal, twoDecimals } from "../../src/model/random.js";
import { MOST_SHIFT, MOST_WORDS, type OrderState, REACH } from "./state.js";
import { WIDTH } from "./vectors.js";

const next = normal(1);
/** Nothing is trained here: random numbers stand for what training would find. */
export const TABLE = fill(MOST_SHIFT + MOST_WORDS, WIDTH, () => twoDecimals(next() * 0.7));

/** How fast pair `pair` turns: once round takes 2 pi over this many positions. */
export const speed = (base: number, pair: number): number => base ** ((-2 * pair) / WIDTH);

/** sin and cos of position times speed, side by side. */
export function sinusoid(base: number, position: number, col: number): number {
  const angle = position * speed(base, col >> 1);
  return col % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
}

/** What is added to the vectors; undefined for kinds that add nothing to them. */
export function addedTo(state: OrderState, rows: number, shift: number): Matrix | undefined {
  if (state.kind === "sinusoidal") return fill(rows, WIDTH, (row, col) => sinusoid(state.base, shift + row, col));
  if (state.kind !== "learned") return undefined;
  return fill(rows, WIDTH, (row, col) => at(TABLE, shift + row, col));
}

/** Every pair of neighbouring columns turned by its angle at that row's position. */
export function rotated(matrix: Matrix, base: number, shift: number): Matrix {
  return fill(matrix.rows, matrix.cols, (row, col) => {
    const angle = (shift + row) * speed(base, col >> 1);
    const [first, second] = [at(matrix, row, col & ~1), at(matrix, row, col | 1)];
    return col % 2 === 0
      ? first * Math.cos(angle) - second * Math.sin(angle)
      : first * Math.sin(angle) + second * Math.cos(angle);
  });
}

/** What is added to the score of a query and a key; positions cancel, only the distance is left. */
export function scoreBias(state: OrderState, row: number, col: number): number {
  if (state.kind === "alibi") return -state.slope * Math.abs(row - col);
  if (state.kind === "relative") return at(state.biases, 0, clipped(col - row) + REACH);
  return 0;
}

export const clipped = (distance: number): number => Math.max(-REACH, Math.min(REACH, distance));
