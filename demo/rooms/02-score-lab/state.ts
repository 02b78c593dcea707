// What the reader can choose in this room.

import { codecFrom, initially, like, number, oneOf, type StateOf, step } from "../../src/model/fields.js";
import { singleRows } from "../../src/model/matrix.js";
import { readFormula } from "./formula.js";
import { KEYS, KINDS } from "./kinds.js";

/** All that can be typed, by its name in the room. */
export const TYPED = ["q", "K", "W", "Wq", "Wk", "b", "v", "g"] as const;
export type TypedName = (typeof TYPED)[number];

export const TEMPERATURES: readonly number[] = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];
export const BANDWIDTHS: readonly number[] = [0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3];

const FIELDS = {
  kind: initially("scaled-dot", oneOf("score", KINDS)),
  bandwidth: initially(1, step("width", BANDWIDTHS)),
  keep: initially(2, number("keep", 1, KEYS)),
  temperature: initially(1, step("T", TEMPERATURES)),
  formula: initially<string>("score - 0.5 * abs(q - k)", { key: "f", write: String, read: readable }),
  q: like("q", singleRows([1, 0.5])),
  K: like("k", singleRows([1, 0.5], [3, 1.5], [0.5, 2], [-1.5, 0.5], [2, -1.5])),
  W: like("w", singleRows([1, 0.5], [-1, 1])),
  Wq: like("wq", singleRows([1, 0], [0, 1], [1, -1])),
  Wk: like("wk", singleRows([1, 0.5], [0, 1], [-1, 0])),
  b: like("b", singleRows([0, 0, 0.5])),
  v: like("v", singleRows([1, 1, 1])),
  g: like("g", singleRows([0, 0, 1, -1])),
};

export type ScoreState = StateOf<typeof FIELDS>;

export const SCORE_STATE = codecFrom<ScoreState>(FIELDS);
export const INITIAL = SCORE_STATE.initial;

/** Only what can be read. */
function readable(formula: string): string | undefined {
  return troubleWith(formula) === "" ? formula : undefined;
}

/** In words; empty: it can be read. */
export function troubleWith(formula: string): string {
  try {
    readFormula(formula);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
