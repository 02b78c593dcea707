// The numbers of the room for one state, by heed's reference in double precision.

import { attention } from "heed/reference";
import { fill, type Matrix, rowsOf, toSingle, unstack } from "../../src/model/matrix.js";
import type { Example, ScoreName } from "./examples.js";
import { type DictionaryState, exampleOf, matrixOf } from "./state.js";

export interface Lookup {
  readonly q: Matrix;
  /** Before the temperature. */
  readonly scores: Matrix;
  readonly weights: Matrix;
  readonly output: Matrix;
}

export interface DictionaryScene extends Lookup {
  readonly state: DictionaryState;
  readonly example: Example;
  readonly k: Matrix;
  readonly v: Matrix;
  /** The same for every grade on an axis; undefined but for salaries. */
  readonly curve: Lookup | undefined;
  /** By every score, at the present temperature. */
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
  const attend = (options: ReturnType<typeof optionsOf>) => attention(tensor(q), tensor(k), tensor(v), options);
  const { weights, output } = attend(optionsOf(state));
  return {
    q,
    scores: unstack(q.rows, k.rows, attend(optionsOf({ ...state, temperature: 1 })).scores.raw.data),
    weights: unstack(q.rows, k.rows, weights.data),
    output: unstack(q.rows, v.cols, output.data),
  };
}

const tensor = ({ rows, cols, data }: Matrix) => ({ data, shape: [rows, cols] });

/** For heed and for its reference. Without heat the best takes all; with no end of it all are alike. */
export function optionsOf({ score, bandwidth, temperature }: DictionaryState) {
  const kind = { score: score === "rbf" ? ({ type: score, bandwidth } as const) : score };
  if (temperature === 0) return { ...kind, normalize: "hard" } as const;
  return temperature === Number.POSITIVE_INFINITY ? { ...kind, scale: 0 } : { ...kind, temperature };
}

/** Of a row. */
export function lengthOf(matrix: Matrix, row: number): number {
  return Math.hypot(...(rowsOf(matrix)[row] ?? []));
}
