// What the reader can choose in this room.

import { BY, type By, codecOf, type Field, matrixOrNone, number, oneOf } from "../../src/model/fields.js";
import type { Matrix } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { CABINETS, EXAMPLES, type Example, type ExampleName, type Role, SCORES, type ScoreName } from "./examples.js";

const WARM = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50];
/** From the exact lookup to the plain average. */
export const TEMPERATURES: readonly number[] = [0, ...WARM, Number.POSITIVE_INFINITY];
export const BANDWIDTHS: readonly number[] = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2];

export interface DictionaryState {
  readonly example: ExampleName;
  readonly score: ScoreName;
  readonly temperature: number;
  readonly bandwidth: number;
  /** Edited matrices; null: as given. */
  readonly q: Matrix | null;
  readonly k: Matrix | null;
  readonly v: Matrix | null;
  /** The query in view. */
  readonly asker: number;
  readonly by: By;
}

export type DictionaryStore = Store<DictionaryState>;

/** An example as it is given, whatever was chosen before. */
export function asGiven(example: ExampleName): Omit<DictionaryState, "by"> {
  const { score, temperature, bandwidth } = CABINETS[example];
  return { example, score, temperature, bandwidth, q: null, k: null, v: null, asker: 0 };
}

export function openDictionaryStore(): DictionaryStore {
  return new Store(DICTIONARY_STATE, ["example"]);
}

const FIRST: ExampleName = "students";

export const DICTIONARY_STATE = codecOf<DictionaryState>(
  { ...asGiven(FIRST), by: "rows" },
  {
    example: oneOf("of", EXAMPLES),
    score: oneOf("score", SCORES),
    temperature: temperature("T"),
    bandwidth: number("b", 0.02, 2, 2),
    q: matrixOrNone("q"),
    k: matrixOrNone("k"),
    v: matrixOrNone("v"),
    asker: number("who", 0, 9),
    by: BY,
  },
  consistent,
  ({ example = FIRST }) => ({ ...asGiven(example), example: FIRST }),
);

function consistent(state: DictionaryState): DictionaryState {
  const given = CABINETS[state.example];
  const edited = (role: Role): Matrix | null => fitting(state[role], given[role]);
  return {
    ...state,
    temperature: listed(TEMPERATURES, state.temperature),
    bandwidth: listed(BANDWIDTHS, state.bandwidth),
    q: edited("q"),
    k: edited("k"),
    v: edited("v"),
    asker: Math.min(state.asker, given.queries.length - 1),
  };
}

export function matrixOf(state: DictionaryState, role: Role): Matrix {
  return state[role] ?? CABINETS[state.example][role];
}

export function exampleOf(state: DictionaryState): Example {
  return CABINETS[state.example];
}

function fitting(edited: Matrix | null, given: Matrix): Matrix | null {
  return edited !== null && edited.rows === given.rows && edited.cols === given.cols ? edited : null;
}

function temperature(key: string): Field<number> {
  return {
    key,
    write: (value) => (value === Number.POSITIVE_INFINITY ? "inf" : String(value)),
    read: (text) => {
      const value = text === "inf" ? Number.POSITIVE_INFINITY : Number(text);
      return text.trim() === "" || Number.isNaN(value) ? undefined : Math.max(0, value);
    },
  };
}

/** The closest value of a list that ascends. */
function listed(values: readonly number[], wanted: number): number {
  if (wanted === Number.POSITIVE_INFINITY) return values.at(-1) ?? wanted;
  return values.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best));
}
