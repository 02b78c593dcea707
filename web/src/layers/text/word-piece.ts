// WordPiece: the longest beginning of a word that is in the vocabulary, then the longest of what follows, and so on. WordLevel: words alone.

import { type Component, refusal } from "./component.js";
import type { Model, Piece } from "./models.js";

export function readWordPiece(component: Component): Model {
  const vocabulary = component.vocabulary("vocab");
  const unknown = unknownOf(component, vocabulary, "[UNK]");
  const prefix = component.text("continuing_subword_prefix", "##");
  const longest = component.whole("max_input_chars_per_word", 100);
  return {
    vocabulary,
    tokenize: ({ text: word }) => {
      // A bound on characters, which is a bound on time: each may look at all that follow.
      const isShort = word.length <= longest || [...word].length <= longest;
      const pieces = isShort ? longestPieces(word, vocabulary, prefix) : null;
      return pieces ?? [{ id: unknown, from: 0, to: word.length }];
    },
  };
}

/** Null where some part is not in the vocabulary. */
function longestPieces(word: string, vocabulary: ReadonlyMap<string, number>, prefix: string): Piece[] | null {
  const pieces: Piece[] = [];
  let from = 0;
  while (from < word.length) {
    let to = word.length;
    let id: number | undefined;
    for (; to > from; to -= 1) {
      id = vocabulary.get((from > 0 ? prefix : "") + word.slice(from, to));
      if (id !== undefined) break;
    }
    if (id === undefined) return null;
    pieces.push({ id, from, to });
    from = to;
  }
  return pieces;
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
