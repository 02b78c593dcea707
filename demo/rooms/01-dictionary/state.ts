// What the reader can choose in this room.

import {
  BY,
  codecFrom,
  fitting,
  initially,
  listed,
  matrixOrNone,
  number,
  oneOf,
  type StateOf,
  step,
} from "../../src/model/fields.js";
import type { Matrix } from "../../src/model/matrix.js";
import { CABINETS, EXAMPLES, type ExampleName, type Role, SCORES } from "./examples.js";

const WARM = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50];
/** From the exact lookup to the plain average. */
export const TEMPERATURES: readonly number[] = [0, ...WARM, Number.POSITIVE_INFINITY];
export const BANDWIDTHS: readonly number[] = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2];

const FIRST = "students";

const FIELDS = {
  example: initially(FIRST, oneOf("of", EXAMPLES)),
  score: initially(CABINETS[FIRST].score, oneOf("score", SCORES)),
  temperature: initially(CABINETS[FIRST].temperature, { key: "T", write: writeTemperature, read: readTemperature }),
  bandwidth: initially(CABINETS[FIRST].bandwidth, step("b", BANDWIDTHS)),
  /** Edited matrices; null: as given. */
  q: initially(null, matrixOrNone("q")),
  k: initially(null, matrixOrNone("k")),
  v: initially(null, matrixOrNone("v")),
  /** The query in view. */
  asker: initially(0, number("who", 0, 9)),
  by: initially("rows", BY),
};

export type DictionaryState = StateOf<typeof FIELDS>;

/** An example as it is given, whatever was chosen before. */
export function asGiven(example: ExampleName): Omit<DictionaryState, "by"> {
  const { score, temperature, bandwidth } = CABINETS[example];
  return { example, score, temperature, bandwidth, q: null, k: null, v: null, asker: 0 };
}

export const DICTIONARY_STATE = codecFrom<DictionaryState>(FIELDS, consistent, ({ example = FIRST }) => ({
  ...asGiven(example),
  example: FIRST,
}));

function consistent(state: DictionaryState): DictionaryState {
  const given = CABINETS[state.example];
  const edited = (role: Role): Matrix | null => fitting(state[role], given[role]) ?? null;
  return {
    ...state,
    temperature: Number.isFinite(state.temperature) ? listed(TEMPERATURES, state.temperature) : state.temperature,
    q: edited("q"),
    k: edited("k"),
    v: edited("v"),
    asker: Math.min(state.asker, given.queries.length - 1),
  };
}

export const matrixOf = (state: DictionaryState, role: Role): Matrix => state[role] ?? CABINETS[state.example][role];

function writeTemperature(value: number): string {
  return value === Number.POSITIVE_INFINITY ? "inf" : String(value);
}

function readTemperature(text: string): number | undefined {
  const value = text === "inf" ? Number.POSITIVE_INFINITY : Number(text);
  return text.trim() === "" || Number.isNaN(value) ? undefined : Math.max(0, value);
}
