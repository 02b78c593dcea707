// Eleven words with vectors made by hand, and one head that asks for nouns, by which the ten stops of the thread explain attention.

import { at, columns, fill, type Matrix, multiply, rowsOf, singleRows } from "./matrix.js";
import { softmax } from "./softmax.js";

export const WORDS = ["the", "animal", "didn't", "cross", "the", "road", "because", "it", "was", "too"] as const;
export const ENDINGS = ["tired", "wide"] as const;
export type Ending = (typeof ENDINGS)[number];
/** Words in the order of the sentence. */
export const [ANIMAL, ROAD, IT, LAST] = [1, 5, 7, WORDS.length];
export const COUNT = WORDS.length + 1;

/** What a word can be. A key has the first four of them, and a value the last two of those. */
export const PROPERTIES = ["noun", "adjective", "life", "size", "pronoun"] as const;
const [NOUN, ADJECTIVE, LIFE, SIZE, PRONOUN] = [0, 1, 2, 3, 4];
export const KEY_WIDTH = 4;
export const VALUES = ["life", "size"] as const;

export function vectorsOf(ending: Ending): Matrix {
  const has: Readonly<Record<number, readonly number[]>> = {
    [ANIMAL]: [NOUN, LIFE],
    [ROAD]: [NOUN, SIZE],
    [IT]: [PRONOUN],
    [LAST]: [ADJECTIVE, ending === "tired" ? LIFE : SIZE],
  };
  return fill(COUNT, PROPERTIES.length, (word, property) => (has[word]?.includes(property) ? 1 : 0));
}

/** A pronoun and an adjective ask for a noun, a noun for an adjective; and what is alive asks for what is. */
const ASKS_NOUNS = singleRows([0, 4, 0, 0], [4, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 4], [6, 0, 0, 0]);
const NOTHING = [0, 0, 0, 0];
/** A pronoun asks for an adjective. */
const ASKS_ADJECTIVES = singleRows(NOTHING, NOTHING, NOTHING, NOTHING, [0, 7, 0, 0]);
/** A pronoun asks for both at once, as a single head must. */
const ASKS_BOTH = singleRows(NOTHING, NOTHING, NOTHING, NOTHING, [6, 7, 0, 0]);

export const HEADS = { nouns: ASKS_NOUNS, adjectives: ASKS_ADJECTIVES, both: ASKS_BOTH } as const;
export type HeadName = keyof typeof HEADS;

export const keysOf = (x: Matrix): Matrix => columns(x, 0, KEY_WIDTH);
export const valuesOf = (x: Matrix): Matrix => columns(x, LIFE, VALUES.length);

/** One word's query beside every key. */
export type Row = Readonly<Record<"query" | "scores" | "weights" | "output", readonly number[]>>;

interface Change {
  /** Between a dot product and a score. */
  readonly scale?: number;
  /** Is added to the score of the animal. */
  readonly raise?: number;
  /** Keys from here on are hidden. */
  readonly visible?: number;
}

export function lookOf(x: Matrix, query: readonly number[], change: Change): Row {
  const { scale = 1 / Math.sqrt(KEY_WIDTH), raise = 0, visible = COUNT } = change;
  const products = rowsOf(keysOf(x)).map((key) => key.reduce((sum, entry, i) => sum + entry * (query[i] ?? 0), 0));
  const scores = products.map((sum, key) => sum * scale + (key === ANIMAL ? raise : 0));
  const weights = softmax(fill(1, COUNT, (_, key) => (key < visible ? (scores[key] ?? 0) : Number.NEGATIVE_INFINITY)));
  const output = multiply(weights, valuesOf(x));
  return { query, scores, weights: Array.from(weights.data), output: Array.from(output.data) };
}

export function rowOf(x: Matrix, head: HeadName, asker: number, change: Change = {}): Row {
  return lookOf(x, rowsOf(multiply(x, HEADS[head]))[asker] ?? [], change);
}

/** What the second layer sees: each word's vector with what the first layer's head for adjectives read added to it. */
export function afterLayer(x: Matrix): Matrix {
  const outputs = Array.from({ length: COUNT }, (_, word) => rowOf(x, "adjectives", word).output);
  return fill(COUNT, PROPERTIES.length, (row, col) => at(x, row, col) + (outputs[row]?.[col - LIFE] ?? 0));
}
