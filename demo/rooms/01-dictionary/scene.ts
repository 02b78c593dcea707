// The numbers of the room for one state, by heed's reference in double precision; and what heed itself says to them.

import { attention } from "heed/reference";
import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, type Matrix, rowsOf, stack, toSingle, unstack, widestGap } from "../../src/model/matrix.js";
import { twoDecimals } from "../../src/model/random.js";
import { CABINETS, type Role, type ScoreName } from "./examples.js";
import { type DictionaryState, matrixOf } from "./state.js";

/** `scores`: before the temperature. */
type Lookup = Readonly<Record<"q" | "scores" | "weights" | "output", Matrix>>;

/** Grades on the axis of the curve. */
export const GRID: readonly number[] = Array.from({ length: 61 }, (_, index) => Math.fround(1.5 + index * 0.05));

export type DictionaryScene = ReturnType<typeof sceneOf>;

export function sceneOf(state: DictionaryState) {
  const single = (role: Role): Matrix => toSingle(matrixOf(state, role));
  const [q, k, v] = [single("q"), single("k"), single("v")];
  const by = (score: ScoreName): Lookup => lookUp(q, k, v, { ...state, score });
  /** By every score, at the present temperature. */
  const rivals = { dot: by("dot"), cosine: by("cosine"), rbf: by("rbf") };
  const grid = fill(GRID.length, 1, (row) => GRID[row] ?? 0);
  /** The same for every grade on an axis; undefined but for salaries. */
  const curve = state.example === "salary" ? lookUp(grid, k, v, state) : undefined;
  const example = CABINETS[state.example];
  // A drawer without a name is called by its key, which may be changed.
  const keys = example.keys.length > 0 ? example.keys : rowsOf(k).map(([grade = 0]) => `GPA ${twoDecimals(grade)}`);
  return { state, example: { ...example, keys }, k, v, ...rivals[state.score], curve, rivals };
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
function optionsOf({ score, bandwidth, temperature }: DictionaryState) {
  const kind = { score: score === "rbf" ? ({ type: score, bandwidth } as const) : score };
  if (temperature === 0) return { ...kind, normalize: "hard" } as const;
  return temperature === Number.POSITIVE_INFINITY ? { ...kind, scale: 0 } : { ...kind, temperature };
}

/** Of a row. */
export const lengthOf = (matrix: Matrix, row: number): number => Math.hypot(...(rowsOf(matrix)[row] ?? []));

export function callsOf({ q, k, v, state }: DictionaryScene): readonly [Call] {
  return [{ q: stack([q]), k: stack([k]), v: stack([v]), options: optionsOf(state) }];
}

export type DictionaryAnswer = NonNullable<ReturnType<typeof readAnswers>>;

/** `apart`: from the page's own arithmetic, of weights, and of outputs as a part of the largest value. */
export function readAnswers(own: DictionaryScene, [answer]: readonly Answer[]) {
  if (answer === undefined) return undefined;
  const largest = Math.max(1, ...own.v.data.map(Math.abs));
  const weights = unstack(own.weights.rows, own.weights.cols, answer.weights.data);
  const output = unstack(own.output.rows, own.output.cols, answer.output.data);
  const apart = Math.max(widestGap(weights, own.weights), widestGap(output, own.output) / largest);
  return { weights, output, apart };
}
