// What the reader can choose in this room.

import { codecOf, type Field, fitting, listed, matrix, number, oneOf, type StateOf } from "../../src/model/fields.js";
import { singleRows } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { readFormula } from "./formula.js";
import { KEYS, KINDS } from "./kinds.js";

/** All that can be typed, by its name in the room. */
export const TYPED = ["q", "K", "W", "Wq", "Wk", "b", "v", "g"] as const;
export type TypedName = (typeof TYPED)[number];

export const TEMPERATURES: readonly number[] = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];
export const BANDWIDTHS: readonly number[] = [0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3];

const FIELDS = {
  kind: oneOf("score", KINDS),
  bandwidth: number("width", 0.2, 3, 1),
  keep: number("keep", 1, KEYS),
  temperature: number("T", 0.1, 10, 1),
  formula: readable("f"),
  q: matrix("q"),
  K: matrix("k"),
  W: matrix("w"),
  Wq: matrix("wq"),
  Wk: matrix("wk"),
  b: matrix("b"),
  v: matrix("v"),
  g: matrix("g"),
};

export type ScoreState = StateOf<typeof FIELDS>;
export type ScoreStore = Store<ScoreState>;

export const INITIAL: ScoreState = {
  kind: "scaled-dot",
  bandwidth: 1,
  keep: 2,
  temperature: 1,
  formula: "score - 0.5 * abs(q - k)",
  q: singleRows([1, 0.5]),
  K: singleRows([1, 0.5], [3, 1.5], [0.5, 2], [-1.5, 0.5], [2, -1.5]),
  W: singleRows([1, 0.5], [-1, 1]),
  Wq: singleRows([1, 0], [0, 1], [1, -1]),
  Wk: singleRows([1, 0.5], [0, 1], [-1, 0]),
  b: singleRows([0, 0, 0.5]),
  v: singleRows([1, 1, 1]),
  g: singleRows([0, 0, 1, -1]),
};

export function openScoreStore(): ScoreStore {
  return new Store(codecOf<ScoreState>(INITIAL, FIELDS, consistent), ["kind"]);
}

/** Only what can be read. */
function readable(key: string): Field<string> {
  return { key, write: (text) => text, read: (text) => (troubleWith(text) === "" ? text : undefined) };
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

function consistent(state: ScoreState): ScoreState {
  return {
    ...state,
    ...Object.fromEntries(TYPED.map((name) => [name, fitting(state[name], INITIAL[name]) ?? INITIAL[name]])),
    bandwidth: listed(BANDWIDTHS, state.bandwidth),
    temperature: listed(TEMPERATURES, state.temperature),
  };
}
