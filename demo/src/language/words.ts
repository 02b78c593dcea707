// The words and the sizes of the small language models that heed trained.

import { MASK, WORDS } from "../../../examples/train/grammar.js";
import { fill } from "../model/matrix.js";
import { softmax } from "../model/softmax.js";
import { LONGEST_TEXT } from "../model/tokens.js";

export { MASK, WORDS };

/** A masked model fills blanks; a causal model continues. */
export type Kind = "masked" | "causal";

export const LAYERS = 2;
export const HEADS = 4;
export const HEAD_DIM = 16;
export const DIM = HEADS * HEAD_DIM;

/** Both were trained on no longer sentences. */
export const LONGEST = 15;

/** Without signs and marks. */
export const KNOWN = WORDS.filter((word) => /^\w/.test(word));

/** -1 for a word that the models don't know. */
export const idOf = (word: string): number => WORDS.indexOf(word.toLowerCase().replace("’", "'"));

/** What stands behind the words that are read, where there are more. */
export const moreWords = (leftOut: number): readonly string[] => (leftOut > 0 ? [`+${leftOut}`] : []);

/** What is said of a text that is too long. */
export function tooLong(text: string, leftOut: number): string {
  const rest = leftOut === 1 ? "1 more does not" : `${leftOut} more do not`;
  const words = leftOut > 0 ? ` It reads ${LONGEST} words at a time: ${rest} fit.` : "";
  return text.length >= LONGEST_TEXT ? `${words} The line ends after ${LONGEST_TEXT} letters.` : words;
}

export interface Candidate {
  readonly id: number;
  readonly word: string;
  readonly probability: number;
}

/** Of all words, in their order. */
export function probabilitiesOf(logits: ArrayLike<number>, temperature = 1): ArrayLike<number> {
  return softmax(fill(1, WORDS.length, (_, id) => (logits[id] ?? Number.NaN) / temperature)).data;
}

/** All words by their probability, the likeliest first. */
export function candidates(logits: ArrayLike<number>, temperature = 1): readonly Candidate[] {
  const probabilities = probabilitiesOf(logits, temperature);
  const all = WORDS.map((word, id) => ({ id, word, probability: probabilities[id] ?? 0 }));
  return all.sort((a, b) => b.probability - a.probability);
}
