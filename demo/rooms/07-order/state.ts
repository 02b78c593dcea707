// What the reader can choose in this room.

import {
  BY,
  codecFrom,
  initially,
  like,
  matrixOrNone,
  number,
  oneOf,
  type StateOf,
  step,
  text,
  wholes,
} from "../../src/model/fields.js";
import { singleRows } from "../../src/model/matrix.js";
import type { Store } from "../../src/model/store.js";
import { cutIntoWords } from "../../src/model/tokens.js";
import { WIDTH } from "./vectors.js";

export const MOST_WORDS = 10;
export const MOST_SHIFT = 40;
export const BASES: readonly number[] = [10, 100, 1000, 10_000];
export const SLOPES: readonly number[] = [0.125, 0.25, 0.5, 1, 2];
/** Distances beyond it count as it. */
export const REACH = 4;

export const KINDS = ["none", "causal", "sinusoidal", "learned", "rope", "alibi", "relative"] as const;
export type Kind = (typeof KINDS)[number];

/** The word before a query matters most, the one after it a little. */
const BIASES = singleRows([-1, -0.5, 0, 1.5, 0, 0.5, -0.5, -1, -1.5]);

const FIELDS = {
  text: initially("Susan gave roses to Mary", text("t", 200)),
  /** Which word of the text stands where; empty: as written. */
  order: initially([], wholes("order")),
  kind: initially("none", oneOf("kind", KINDS)),
  /** How many positions come before the first word. */
  shift: initially(0, number("shift", 0, MOST_SHIFT)),
  base: initially(10_000, step("base", BASES)),
  slope: initially(0.5, step("slope", SLOPES)),
  /** Added to the score at each distance from -REACH to REACH, of key less query. */
  biases: like("bias", BIASES),
  /** X changed by hand, in the order of the text; null: as made from the words. */
  numbers: initially(null, matrixOrNone("x")),
  /** The word in the light, by its place in the text. */
  asker: initially(1, number("word", 0, MOST_WORDS - 1)),
  by: initially("rows", BY),
};

export type OrderState = StateOf<typeof FIELDS>;
export type OrderStore = Store<OrderState>;

export const ORDER_STATE = codecFrom<OrderState>(FIELDS, consistent);

export function wordsOf({ text: written }: OrderState): readonly string[] {
  return cutIntoWords(written).words.slice(0, MOST_WORDS);
}

/** The word of the text at each place. */
export function placesOf(state: OrderState): readonly number[] {
  return state.order.length > 0 ? state.order : wordsOf(state).map((_, index) => index);
}

function consistent(state: OrderState): OrderState {
  const count = wordsOf(state).length;
  const isPermutation = new Set(state.order).size === count && state.order.every((word) => word < count);
  const isAsWritten = state.order.every((word, place) => word === place);
  const { numbers: own } = state;
  return {
    ...state,
    order: isPermutation && state.order.length === count && !isAsWritten ? state.order : [],
    numbers: own !== null && own.rows === count && own.cols === WIDTH ? own : null,
    asker: Math.max(0, Math.min(state.asker, count - 1)),
  };
}
