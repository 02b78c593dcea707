// The numbers of the room for one state, by the page's own arithmetic.

import { at, fill, type Matrix, multiply, toSingle } from "../../src/model/matrix.js";
import { cosineOf, dotOf, pairs, squaredDistance } from "../../src/model/similarity.js";
import { softmax } from "../../src/model/softmax.js";
import type { Example, ScoreName } from "./examples.js";
import { type DictionaryState, exampleOf, matrixOf } from "./state.js";

export interface Lookup {
  readonly q: Matrix;
  /** Before the temperature. */
  readonly scores: Matrix;
  readonly shares: Matrix;
  readonly output: Matrix;
}

export interface DictionaryScene extends Lookup {
  readonly state: DictionaryState;
  readonly example: Example;
  readonly k: Matrix;
  readonly v: Matrix;
  /** The same for every grade on an axis; undefined but for salaries. */
  readonly curve: Lookup | undefined;
  /** Shares by every score, at the present temperature. */
  readonly rivals: Readonly<Record<ScoreName, Lookup>>;
}

/** Grades on the axis of the curve. */
export const GRID: readonly number[] = Array.from({ length: 61 }, (_, index) => Math.fround(1.5 + index * 0.05));

export function sceneOf(state: DictionaryState): DictionaryScene {
  const [q, k, v] = [toSingle(matrixOf(state, "q")), toSingle(matrixOf(state, "k")), toSingle(matrixOf(state, "v"))];
  const by = (score: ScoreName): Lookup => lookUp(q, k, v, { ...state, score });
  const rivals = { dot: by("dot"), cosine: by("cosine"), rbf: by("rbf") };
  const grid = fill(GRID.length, 1, (row) => GRID[row] ?? 0);
  return {
    state,
    example: exampleOf(state),
    k,
    v,
    ...rivals[state.score],
    curve: state.example === "salary" ? lookUp(grid, k, v, state) : undefined,
    rivals,
  };
}

function lookUp(q: Matrix, k: Matrix, v: Matrix, state: DictionaryState): Lookup {
  const scores = pairs(q, k, scoreOf(q, k, state));
  const shares = share(scores, state.temperature);
  return { q, scores, shares, output: multiply(shares, v) };
}

function scoreOf(q: Matrix, k: Matrix, { score, bandwidth }: DictionaryState): (row: number, key: number) => number {
  switch (score) {
    case "dot":
      return (row, key) => dotOf(q, row, k, key);
    case "cosine":
      return (row, key) => cosineOf(q, row, k, key);
    case "rbf":
      return (row, key) => -squaredDistance(q, row, k, key) / (2 * bandwidth ** 2);
  }
}

/** Without heat the best takes all, the first of equals; with no end of it all are alike. */
function share(scores: Matrix, temperature: number): Matrix {
  if (temperature === Number.POSITIVE_INFINITY) return fill(scores.rows, scores.cols, () => 1 / scores.cols);
  if (temperature > 0) return softmax({ ...scores, data: scores.data.map((score) => score / temperature) });
  return fill(scores.rows, scores.cols, (row, col) => (col === bestOf(scores, row) ? 1 : 0));
}

/** The column of the largest number in a row, the first of equals. */
export function bestOf(matrix: Matrix, row: number): number {
  let best = 0;
  for (let col = 1; col < matrix.cols; col++) if (at(matrix, row, col) > at(matrix, row, best)) best = col;
  return best;
}
