// What the reader can choose in this room.

import { codecFrom, initially, number, oneOf, type StateOf, step } from "../../src/model/fields.js";

export const WIDTHS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
export const TEMPERATURES: readonly number[] = [
  0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.4, 2, 3, 4, 5, 7, 10, 14, 20,
];
export const [LEAST_KEYS, MOST_KEYS] = [2, 12];
const MOST_SEED = 9999;

const FIELDS = {
  width: initially(64, step("d", WIDTHS)),
  keys: initially(8, number("n", LEAST_KEYS, MOST_KEYS)),
  scaling: initially("none", oneOf("scale", ["root", "none"])),
  temperature: initially(1, step("T", TEMPERATURES)),
  /** How much the first key resembles the query: the cosine that it has with it, in the mean. */
  likeness: initially(0, number("like", 0, 0.9, 2)),
  seed: initially(1, number("seed", 1, MOST_SEED)),
};

export type ScaleState = StateOf<typeof FIELDS>;

export const SCALE_STATE = codecFrom<ScaleState>(FIELDS, (state) => ({
  ...state,
  seed: state.seed > MOST_SEED ? 1 : state.seed,
}));
