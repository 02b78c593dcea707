// Eleven words with vectors made by hand, and one head that asks for nouns, by which the ten stops of the thread explain attention.

import { fill, type Matrix, multiply, transpose } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";

export const WORDS = ["the", "animal", "didn't", "cross", "the", "road", "because", "it", "was", "too"] as const;
export const ENDINGS = ["tired", "wide"] as const;
export type Ending = (typeof ENDINGS)[number];
/** Words in the order of the sentence. */
export const [ANIMAL, ROAD, IT, LAST] = [1, 5, 7, WORDS.length];
export const COUNT = WORDS.length + 1;

/** What a word can be. A key has the first four of them, and a value the last two of those. */
export const PROPERTIES = ["noun", "adjective", "body", "extent", "pronoun"] as const;
const [NOUN, ADJECTIVE, BODY, EXTENT, PRONOUN] = [0, 1, 2, 3, 4];
export const KEY_WIDTH = 4;
export const VALUES = ["body", "extent"] as const;

const matrix = (rows: readonly (readonly number[])[]): Matrix =>
  fill(rows.length, rows[0]?.length ?? 0, (row, col) => rows[row]?.[col] ?? Number.NaN);

export function vectorsOf(ending: Ending): Matrix {
  const has: Readonly<Record<number, readonly number[]>> = {
    [ANIMAL]: [NOUN, BODY],
    [ROAD]: [NOUN, EXTENT],
    [IT]: [PRONOUN],
    [LAST]: [ADJECTIVE, ending === "tired" ? BODY : EXTENT],
  };
  return fill(COUNT, PROPERTIES.length, (word, property) => (has[word]?.includes(property) ? 1 : 0));
}

/** A pronoun and an adjective ask for a noun, a noun for an adjective; and who has a body asks for one. */
const ASKS_NOUNS = matrix([
  [0, 4, 0, 0],
  [4, 0, 0, 0],
  [0, 0, 4, 0],
  [0, 0, 0, 4],
  [6, 0, 0, 0],
]);
/** A pronoun asks for an adjective. */
const ASKS_ADJECTIVES = fill(PROPERTIES.length, KEY_WIDTH, (row, col) =>
  row === PRONOUN && col === ADJECTIVE ? 7 : 0,
);
/** A pronoun asks for both at once, as a single head must. */
const ASKS_BOTH = fill(PROPERTIES.length, KEY_WIDTH, (row, col) =>
  row !== PRONOUN ? 0 : col === NOUN ? 6 : col === ADJECTIVE ? 7 : 0,
);

export const HEADS = { nouns: ASKS_NOUNS, adjectives: ASKS_ADJECTIVES, both: ASKS_BOTH } as const;
export type HeadName = keyof typeof HEADS;

export const keysOf = (x: Matrix): Matrix => fill(COUNT, KEY_WIDTH, (row, col) => x.data[row * x.cols + col] ?? 0);
export const valuesOf = (x: Matrix): Matrix =>
  fill(COUNT, VALUES.length, (row, col) => x.data[row * x.cols + BODY + col] ?? 0);

/** One word's query beside every key. */
export interface Row {
  readonly query: readonly number[];
  readonly scores: readonly number[];
  readonly weights: readonly number[];
  readonly output: readonly number[];
}

/** `raise` is added to the score of the animal; keys from `visible` on are hidden. */
export function rowOf(
  x: Matrix,
  head: HeadName,
  asker: number,
  change: { raise?: number; visible?: number } = {},
): Row {
  const { raise = 0, visible = COUNT } = change;
  const [queries, keys, values] = [multiply(x, HEADS[head]), keysOf(x), valuesOf(x)];
  const query = Array.from(queries.data.subarray(asker * KEY_WIDTH, (asker + 1) * KEY_WIDTH));
  const products = multiply(matrix([query]), transpose(keys));
  const scores = Array.from(products.data, (sum, key) => sum / Math.sqrt(KEY_WIDTH) + (key === ANIMAL ? raise : 0));
  const weights = softmax(matrix([scores.map((score, key) => (key < visible ? score : Number.NEGATIVE_INFINITY))]));
  return { query, scores, weights: Array.from(weights.data), output: Array.from(multiply(weights, values).data) };
}

/** What the second layer sees: each word's vector with what the first layer's head for adjectives read added to it. */
export function afterLayer(x: Matrix): Matrix {
  const outputs = Array.from({ length: COUNT }, (_, word) => rowOf(x, "adjectives", word).output);
  return fill(COUNT, PROPERTIES.length, (row, col) => {
    return (x.data[row * x.cols + col] ?? 0) + (outputs[row]?.[col - BODY] ?? 0);
  });
}
