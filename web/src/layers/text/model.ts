// The interface of a tokenizer's model, which splits words into tokens.

import type { Aligned } from "./aligned.js";

/** A token, and its range of UTF-16 code units in the word. */
export interface WordToken {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

export interface Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  tokenize(word: Aligned): readonly WordToken[];
}
