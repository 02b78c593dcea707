// The words and the sizes of the small language models that heed trained.

import { MASK, WORDS } from "../../../examples/train/grammar.js";
import { fill } from "../model/matrix.js";
import { softmax } from "../model/softmax.js";

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

/** Which of these words the models read: those that they know, as far as they can. */
export function readable(words: readonly string[]): readonly number[] {
  return Array.from(words.keys())
    .filter((at) => idOf(words[at] ?? "") >= 0)
    .slice(0, LONGEST);
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
