// Caches the tokens of words, because texts repeat their words.

import type { WordToken } from "./model.js";

/** How many words are cached with their tokens, and how long they may be. */
const CACHED_WORDS = 10_000;
const CACHED_LENGTH = 256;

type Tokenize = (word: string) => readonly WordToken[];

export function cached(tokenize: Tokenize): Tokenize {
  const cache = new Map<string, readonly WordToken[]>();
  return (word) => {
    const known = cache.get(word);
    if (known !== undefined) return known;
    const tokens = tokenize(word);
    if (word.length <= CACHED_LENGTH) {
      if (cache.size >= CACHED_WORDS) cache.clear();
      cache.set(word, tokens);
    }
    return tokens;
  };
}
