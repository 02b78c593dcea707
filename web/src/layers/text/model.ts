// What a tokenizer's model is: words to tokens.

import type { Aligned } from "./aligned.js";

/** A token, and the UTF-16 units of the word that it is of. */
export interface Piece {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

export interface Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  tokenize(word: Aligned): readonly Piece[];
}
