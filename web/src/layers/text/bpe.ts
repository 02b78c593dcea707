// Byte pair encoding: neighbouring symbols of a word are merged in the order in which training merged them.

import { HeedError } from "../../base/errors.js";
import { byteIds } from "./byte-fallback.js";
import { type Component, refusal, WHERE } from "./component.js";
import { MergeQueue } from "./merge-queue.js";
import type { Model, WordToken } from "./model.js";
import { cached } from "./word-cache.js";

/** The token that two tokens are merged into, and the rank of the merge. */
interface Rule {
  readonly rank: number;
  readonly id: number;
}

export function readBpe(component: Component): Model {
  const vocabulary = component.vocabulary("vocab");
  if ((component.get("dropout") ?? 0) !== 0) {
    throw new HeedError("unsupported", `${WHERE}: ${component.what} with dropout is not supported`);
  }
  const bpe = new Bpe(component, vocabulary);
  const tokenize = cached((word) => bpe.tokenize(word));
  return { vocabulary, tokenize: ({ text }) => tokenize(text) };
}

class Bpe {
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #rules: ReadonlyMap<number, Rule>;
  readonly #prefix: string;
  readonly #suffix: string;
  readonly #unknown: number | undefined;
  readonly #fuseUnknown: boolean;
  readonly #byteFallback: boolean;
  readonly #ignoreMerges: boolean;

  constructor(component: Component, vocabulary: ReadonlyMap<string, number>) {
    this.#vocabulary = vocabulary;
    this.#prefix = component.text("continuing_subword_prefix", "");
    this.#suffix = component.text("end_of_word_suffix", "");
    this.#fuseUnknown = component.flag("fuse_unk", false);
    this.#byteFallback = component.flag("byte_fallback", false);
    this.#ignoreMerges = component.flag("ignore_merges", false);
    const unknown = component.text("unk_token", undefined);
    this.#unknown = unknown === undefined ? undefined : vocabulary.get(unknown);
    if (unknown !== undefined && this.#unknown === undefined) {
      throw refusal(`${component.what}: unk_token must be in the vocabulary`, unknown);
    }
    this.#rules = readRules(component, vocabulary, this.#prefix.length);
  }

  tokenize(word: string): readonly WordToken[] {
    const whole = this.#ignoreMerges ? this.#vocabulary.get(word) : undefined;
    return whole === undefined ? this.#merged(word) : [{ id: whole, from: 0, to: word.length }];
  }

  /** Symbols form a doubly linked list. Merges in the queue whose symbols are gone by then are skipped. */
  #merged(word: string): WordToken[] {
    const symbols: (WordToken | null)[] = this.#symbols(word);
    const next = symbols.map((_, index) => (index + 1 < symbols.length ? index + 1 : -1));
    const previous = symbols.map((_, index) => index - 1);
    const queue = new MergeQueue();
    const offer = (left: number): void => {
      const rule = this.#ruleOf(symbols[left], symbols[next[left] ?? -1]);
      if (rule !== undefined) queue.push({ rank: rule.rank, left });
    };
    for (let left = 0; left < symbols.length; left++) offer(left);
    for (let merge = queue.pop(); merge !== undefined; merge = queue.pop()) {
      const { left, rank } = merge;
      const right = next[left] ?? -1;
      const [one, other] = [symbols[left], symbols[right]];
      const rule = this.#ruleOf(one, other);
      if (!one || !other || rule?.rank !== rank) continue;
      symbols[left] = { id: rule.id, from: one.from, to: other.to };
      symbols[right] = null;
      const after = next[right] ?? -1;
      next[left] = after;
      if (after >= 0) previous[after] = left;
      const before = previous[left] ?? -1;
      if (before >= 0) offer(before);
      offer(left);
    }
    return symbols.filter((symbol) => symbol !== null);
  }

  #ruleOf(left: WordToken | null | undefined, right: WordToken | null | undefined): Rule | undefined {
    return left && right ? this.#rules.get(pairKey(left.id, right.id)) : undefined;
  }

  /** The word's characters; those that are not in the vocabulary as bytes, or as the unknown token. */
  #symbols(word: string): WordToken[] {
    const symbols: WordToken[] = [];
    let from = 0;
    for (const character of word) {
      const to = from + character.length;
      const prefix = from > 0 ? this.#prefix : "";
      const suffix = to === word.length ? this.#suffix : "";
      const id = this.#vocabulary.get(prefix + character + suffix);
      if (id !== undefined) symbols.push({ id, from, to });
      else this.#pushUnknown(symbols, character, from, to);
      from = to;
    }
    return symbols;
  }

  #pushUnknown(symbols: WordToken[], character: string, from: number, to: number): void {
    const bytes = this.#byteFallback ? byteIds(character, this.#vocabulary) : null;
    const last = symbols.at(-1);
    if (bytes !== null) symbols.push(...bytes.map((id) => ({ id, from, to })));
    else if (this.#unknown === undefined) return;
    else if (this.#fuseUnknown && last?.id === this.#unknown) symbols[symbols.length - 1] = { ...last, to };
    else symbols.push({ id: this.#unknown, from, to });
  }
}

/** Exact, because ids are below 2^26. */
const pairKey = (left: number, right: number): number => left * 2 ** 26 + right;

function readRules(
  component: Component,
  vocabulary: ReadonlyMap<string, number>,
  prefixLength: number,
): Map<number, Rule> {
  const idOf = (token: string): number => {
    const id = vocabulary.get(token);
    if (id === undefined) throw refusal(`${component.what}: merges must be of tokens of the vocabulary`, token);
    return id;
  };
  const rules = new Map<number, Rule>();
  for (const [rank, merge] of component.list("merges").entries()) {
    const [left, right] = readMerge(component, merge);
    const id = idOf(left + right.slice(prefixLength));
    rules.set(pairKey(idOf(left), idOf(right)), { rank, id });
  }
  return rules;
}

/** `"a b"`, as in older files, or `["a", "b"]`. */
function readMerge(component: Component, merge: unknown): [string, string] {
  const parts: unknown[] = typeof merge === "string" ? merge.split(" ") : Array.isArray(merge) ? merge : [];
  const [left, right, more] = parts;
  if (typeof left === "string" && typeof right === "string" && more === undefined) return [left, right];
  throw refusal(`${component.what}: a merge must be two tokens`, merge);
}
