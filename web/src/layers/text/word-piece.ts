// WordPiece: the longest prefix of a word that is in the vocabulary, then the longest prefix of the rest, and so on. WordLevel: whole words.

import { HeedError } from "../../base/errors.js";
import { type Component, refusal } from "./component.js";
import type { Model, WordToken } from "./model.js";

export function readWordPiece(component: Component): Model {
  const vocabulary = component.vocabulary("vocab");
  const unknown = unknownOf(component, vocabulary, "[UNK]");
  const prefix = component.text("continuing_subword_prefix", "##");
  const longest = component.whole("max_input_chars_per_word", 100);
  let width = 0;
  for (const token of vocabulary.keys()) width = Math.max(width, token.length);
  return {
    vocabulary,
    tokenize: ({ text: word }) => {
      const isShort = word.length <= longest || [...word].length <= longest;
      const tokens = isShort ? longestTokens(word, vocabulary, prefix, width) : null;
      return tokens ?? [{ id: unknown, from: 0, to: word.length }];
    },
  };
}

/** A limit on the characters that are compared for a word. At each position parts of up to the longest token's length are looked up. */
const MOST_COMPARED = 2 ** 29;

/** Null where a part is not in the vocabulary. No token is longer than `width`. */
function longestTokens(
  word: string,
  vocabulary: ReadonlyMap<string, number>,
  prefix: string,
  width: number,
): WordToken[] | null {
  const most = Math.floor(MOST_COMPARED / Math.min(width, word.length) ** 2);
  if (word.length > most) {
    const rule = `words must have at most ${most} characters with tokens of up to ${width}`;
    throw new HeedError("memory", `Tokenizer.encode: ${rule}, got ${word.length}`);
  }
  const tokens: WordToken[] = [];
  let from = 0;
  while (from < word.length) {
    let to = Math.min(word.length, from + width);
    let id: number | undefined;
    for (; to > from; to -= 1) {
      id = vocabulary.get((from > 0 ? prefix : "") + word.slice(from, to));
      if (id !== undefined) break;
    }
    if (id === undefined) return null;
    tokens.push({ id, from, to });
    from = to;
  }
  return tokens;
}

export function readWordLevel(component: Component): Model {
  const vocabulary = component.vocabulary("vocab");
  const unknown = unknownOf(component, vocabulary, "<unk>");
  return {
    vocabulary,
    tokenize: ({ text }) => [{ id: vocabulary.get(text) ?? unknown, from: 0, to: text.length }],
  };
}

function unknownOf(component: Component, vocabulary: ReadonlyMap<string, number>, absent: string): number {
  const token = component.text("unk_token", absent);
  const id = vocabulary.get(token);
  if (id === undefined) throw refusal(`${component.what}: unk_token must be in the vocabulary`, token);
  return id;
}
