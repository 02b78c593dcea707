// Unigram: of all ways to split a word into tokens, the one with the highest sum of scores, found by Viterbi's algorithm.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { byteIds } from "./byte-fallback.js";
import { type Component, refusal } from "./component.js";
import type { Model, WordToken } from "./model.js";
import { PrefixSearch } from "./prefix-search.js";
import { cached } from "./word-cache.js";

/** At each position of a text tokens of up to so many characters are looked for. Published ones have about 16. */
const LONGEST = 256;

/** How much lower the score of an unknown character is than the lowest of a token. */
const UNKNOWN_PENALTY = 10;

export function readUnigram(component: Component): Model {
  const pieces = component.list("vocab").map((piece) => readPiece(component, piece));
  const unigram = new Unigram(component, pieces);
  const tokenize = cached((word) => unigram.tokenize(word));
  return { vocabulary: unigram.vocabulary, tokenize: ({ text }) => tokenize(text) };
}

class Unigram {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly #scores: ReadonlyMap<string, number>;
  readonly #search: PrefixSearch;
  readonly #unknown: number | undefined;
  readonly #unknownScore: number;
  readonly #byteFallback: boolean;

  constructor(component: Component, pieces: readonly (readonly [string, number])[]) {
    this.vocabulary = new Map(pieces.map(([token], id) => [token, id]));
    this.#scores = new Map(pieces);
    this.#search = new PrefixSearch(this.vocabulary.keys());
    this.#unknown = (component.get("unk_id") ?? null) === null ? undefined : component.whole("unk_id");
    if (this.#unknown !== undefined && this.#unknown >= pieces.length) {
      throw refusal(`${component.what}: unk_id must be in the vocabulary`, this.#unknown);
    }
    this.#unknownScore = pieces.reduce((least, [, score]) => Math.min(least, score), Infinity) - UNKNOWN_PENALTY;
    this.#byteFallback = component.flag("byte_fallback", false);
  }

  tokenize(word: string): WordToken[] {
    const starts = this.#bestStarts(word);
    const tokens: WordToken[] = [];
    for (let to = word.length; to > 0; ) {
      let from = starts[to] ?? 0;
      // Neighbouring unknown characters become one token.
      if (this.#isUnknown(word, from, to)) {
        while (from > 0 && this.#isUnknown(word, starts[from] ?? 0, from)) from = starts[from] ?? 0;
      }
      for (const id of this.#idsOf(word.slice(from, to)).reverse()) tokens.push({ id, from, to });
      to = from;
    }
    return tokens.reverse();
  }

  /** Where the last token of the best split of each beginning of the word starts. */
  #bestStarts(word: string): Int32Array {
    const sums = new Float64Array(word.length + 1);
    const starts = new Int32Array(word.length + 1).fill(-1);
    let from = 0;
    const offer = (to: number, score: number): void => {
      const sum = (sums[from] ?? 0) + score;
      if (starts[to] !== -1 && !(sum > (sums[to] ?? 0))) return;
      sums[to] = sum;
      starts[to] = from;
    };
    for (const character of word) {
      const next = from + character.length;
      let isKnown = false;
      this.#search.each(word, from, (token) => {
        offer(from + token.length, this.#scores.get(token) ?? 0);
        isKnown ||= token.length === character.length;
      });
      if (!isKnown) {
        if (this.#unknown === undefined) throw noToken(character);
        offer(next, this.#unknownScore);
      }
      from = next;
    }
    return starts;
  }

  #isUnknown(word: string, from: number, to: number): boolean {
    return (this.vocabulary.get(word.slice(from, to)) ?? this.#unknown) === this.#unknown;
  }

  #idsOf(text: string): number[] {
    const id = this.vocabulary.get(text);
    if (id !== undefined) return [id];
    const bytes = this.#byteFallback ? byteIds(text, this.vocabulary) : null;
    return bytes ?? (this.#unknown === undefined ? [] : [this.#unknown]);
  }
}

function readPiece(component: Component, piece: unknown): readonly [string, number] {
  const [token, score, more] = Array.isArray(piece) ? (piece as unknown[]) : [];
  if (typeof token !== "string" || typeof score !== "number" || !Number.isFinite(score) || more !== undefined) {
    throw refusal(`${component.what}: vocab must have tokens with their scores, finite numbers`, piece);
  }
  if (token.length <= LONGEST) return [token, score];
  throw refusal(`${component.what}: a token must have at most ${LONGEST} characters`, token.length);
}

function noToken(character: string): HeedError {
  const rule = "a tokenizer without an unknown token must have every character of the text";
  return new HeedError("unsupported", `Tokenizer.encode: ${rule}, got ${showValue(character)}`);
}
