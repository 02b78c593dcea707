// Words to vectors: from the table where it knows the word, else from the word's letters, always the same for the same word.

import { fill, type Matrix } from "./matrix.js";
import { FEATURES, meaningOf } from "./vocabulary.js";

export const LEAST_WIDTH = 4;
export const MOST_WIDTH = 16;

/** What an ending suggests, where the table is silent. */
const ENDINGS: readonly (readonly [RegExp, string, number])[] = [
  [/(?:ed|ing|ise|ize|ify)$/u, "acts", 0.7],
  [/(?:ful|ous|less|ish|able|y)$/u, "tells", 0.6],
  [/(?:er|or|ist|ian)$/u, "alive", 0.6],
  [/(?:tion|ness|ment|ity|ship|land|town)$/u, "thing", 0.8],
  [/[^s]s$/u, "many", 0.5],
];

export function embed(words: readonly string[], width: number): Matrix {
  const vectors = words.map(vectorOf);
  return fill(words.length, width, (row, col) => vectors[row]?.[col] ?? 0);
}

/** The table lacks it. */
export const isUnknown = (word: string): boolean => meaningOf(word) === undefined;

function vectorOf(word: string): readonly number[] {
  const meaning = meaningOf(word);
  return FEATURES.map((feature, index) => (meaning ? (meaning[feature] ?? 0) : fromLetters(word, feature, index)));
}

/** Two decimals in [-0.4, 0.4] that its letters decide, plus what its ending or its capital suggests. */
function fromLetters(word: string, feature: string, index: number): number {
  let wave = 0;
  let position = 1;
  for (const letter of word.toLowerCase()) {
    wave += Math.sin((letter.codePointAt(0) ?? 0) * (index + 1) * 0.37 + position);
    position += 1;
  }
  let value = (0.4 * wave) / position;
  for (const [ending, name, amount] of ENDINGS) if (name === feature && ending.test(word)) value += amount;
  if (/^\p{Lu}\p{Ll}/u.test(word) && (feature === "thing" || feature === "alive")) value += 0.7;
  if (feature === "thing" && /^\p{L}/u.test(word)) value += 0.3;
  return Math.round(value * 100) / 100;
}
