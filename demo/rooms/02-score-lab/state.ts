// What the reader can choose in this room.

import { codecOf, listed, matrix, number, oneOf } from "../../src/model/fields.js";
import { fill, type Matrix } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { readFormula } from "./formula.js";
import { KEYS, KINDS, type Kind } from "./kinds.js";

/** All that can be typed, by its name in the room. */
export const TYPED = ["q", "K", "W", "Wq", "Wk", "b", "v", "g"] as const;
export type TypedName = (typeof TYPED)[number];

export interface ScoreState extends Readonly<Record<TypedName, Matrix>> {
  readonly kind: Kind;
  readonly bandwidth: number;
  readonly keep: number;
  readonly temperature: number;
  /** Can be read. */
  readonly formula: string;
}

export type ScoreStore = Store<ScoreState>;

export const TEMPERATURES: readonly number[] = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];
export const BANDWIDTHS: readonly number[] = [0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3];

const rows = (...lines: readonly (readonly number[])[]): Matrix =>
  fill(lines.length, lines[0]?.length ?? 0, (row, col) => lines[row]?.[col] ?? 0);

export const INITIAL: ScoreState = {
  kind: "scaled-dot",
  bandwidth: 1,
  keep: 2,
  temperature: 1,
  formula: "score - 0.5 * abs(q - k)",
  q: rows([1, 0.5]),
  K: rows([1, 0.5], [3, 1.5], [0.5, 2], [-1.5, 0.5], [2, -1.5]),
  W: rows([1, 0.5], [-1, 1]),
  Wq: rows([1, 0], [0, 1], [1, -1]),
  Wk: rows([1, 0.5], [0, 1], [-1, 0]),
  b: rows([0, 0, 0.5]),
  v: rows([1, 1, 1]),
  g: rows([0, 0, 1, -1]),
};

export function openScoreStore(): ScoreStore {
  return new Store(
    codecOf<ScoreState>(
      INITIAL,
      {
        kind: oneOf("score", KINDS),
        bandwidth: number("width", 0.2, 3, 1),
        keep: number("keep", 1, KEYS),
        temperature: number("T", 0.1, 10, 1),
        formula: { key: "f", write: (text) => text, read: (text) => (troubleWith(text) === "" ? text : undefined) },
        q: matrix("q"),
        K: matrix("k"),
        W: matrix("w"),
        Wq: matrix("wq"),
        Wk: matrix("wk"),
        b: matrix("b"),
        v: matrix("v"),
        g: matrix("g"),
      },
      consistent,
    ),
    ["kind"],
  );
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
  const typed = TYPED.map((name) => {
    const [typed, initial] = [state[name], INITIAL[name]];
    return [name, typed.rows === initial.rows && typed.cols === initial.cols ? typed : initial] as const;
  });
  return {
    ...state,
    ...Object.fromEntries(typed),
    bandwidth: listed(BANDWIDTHS, state.bandwidth),
    temperature: listed(TEMPERATURES, state.temperature),
  };
}
