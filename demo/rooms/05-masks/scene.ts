// The numbers of the room: scores, which pairs are seen, and the shares that come out, however the hidden ones are hidden.

import { at, fill, type Matrix, multiply, toSingle, transpose } from "../../src/model/matrix.js";
import { normal, twoDecimals } from "../../src/model/random.js";
import { softmax } from "../../src/model/softmax.js";
import { sees } from "./rules.js";
import { type MaskState, MOST } from "./state.js";

/** Added to hide, by those who hide with a number. */
export const LARGE = -10_000;
const WIDTH = 4;
const SEED = 5;

export interface MaskScene {
  readonly state: MaskState;
  readonly q: Matrix;
  readonly k: Matrix;
  readonly scale: number;
  /** Scaled, before anything is hidden. */
  readonly scores: Matrix;
  /** 1 where the query sees the key. */
  readonly seen: Matrix;
  /** What the softmax is given. */
  readonly given: Matrix;
  readonly shares: Matrix;
  readonly sums: Matrix;
}

export function sceneOf(state: MaskState): MaskScene {
  const { queries, keys, hiding } = state;
  const [q, k] = vectorsOf(state);
  const scale = 1 / Math.sqrt(WIDTH);
  const products = multiply(q, transpose(k));
  const scores = fill(queries, keys, (row, col) => at(products, row, col) * scale);
  const seen = fill(queries, keys, (row, col) => (sees(state, row, col) ? 1 : 0));
  const given = fill(queries, keys, (row, col) => {
    const score = at(scores, row, col);
    if (hiding === "after" || at(seen, row, col) === 1) return score;
    return hiding === "before" ? Number.NEGATIVE_INFINITY : score + LARGE;
  });
  const softened = softmax(given);
  const shares = fill(queries, keys, (row, col) =>
    hiding === "after" && at(seen, row, col) === 0 ? 0 : at(softened, row, col),
  );
  const sums = fill(queries, 1, (row) => sumOf(shares, row));
  return { state, q, k, scale, scores, seen, given, shares, sums };
}

export function sumOf(matrix: Matrix, row: number): number {
  let sum = 0;
  for (let col = 0; col < matrix.cols; col++) sum += at(matrix, row, col);
  return sum;
}

/** The same for every size, so that a row keeps its scores when rows are added. */
function vectorsOf({ queries, keys, scores }: MaskState): readonly [Matrix, Matrix] {
  const next = normal(SEED);
  const numbers = Array.from({ length: 2 * MOST * WIDTH }, () => twoDecimals(next()));
  const part = (first: number, rows: number): Matrix =>
    toSingle(fill(rows, WIDTH, (row, col) => numbers[(first + row) * WIDTH + col] ?? 0));
  const q = part(0, queries);
  return [scores === "equal" ? fill(queries, WIDTH, () => 0) : q, part(MOST, keys)];
}
