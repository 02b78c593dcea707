// Tokens added to a model's vocabulary. They are found in a text before it is tokenized.

import { Aligned } from "./aligned.js";
import { Budget } from "./budget.js";
import { type Component, refusal, WHERE } from "./component.js";
import type { Normalizer } from "./normalizers.js";
import { trimmedEnd } from "./normalizers.js";
import { literal } from "./pattern.js";

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Whether `skipSpecialTokens` drops it. */
  readonly special: boolean;
  /** Whether it is found only where no letter or digit touches it. */
  readonly singleWord: boolean;
  /** Whether the spaces before it, or after it, become part of it. */
  readonly takesLeft: boolean;
  readonly takesRight: boolean;
  /** Whether it is normalized, and found in the normalized text. */
  readonly normalized: boolean;
}

export function readAddedTokens(component: Component): AddedToken[] {
  if ((component.get("added_tokens") ?? null) === null) return [];
  return component.parts("added_tokens").map((token) => {
    const special = token.flag("special", false);
    return {
      id: token.whole("id"),
      content: token.text("content", ""),
      special,
      singleWord: token.flag("single_word", false),
      takesLeft: token.flag("lstrip", false),
      takesRight: token.flag("rstrip", false),
      normalized: token.flag("normalized", !special),
    };
  });
}

/** A section of a text: a token that was found, or text for the model. */
export interface Section {
  readonly text: Aligned;
  readonly token: AddedToken | null;
}

/** At each position so many characters are compared at most. Published tokens have up to about 60. */
const LONGEST = 256;

/** Finds tokens by their text, at each position the longest. */
export class TokenFinder {
  readonly #byContent: ReadonlyMap<string, AddedToken>;
  readonly #pattern: RegExp | null;

  constructor(tokens: readonly AddedToken[], normalize: Normalizer) {
    const length = tokens.reduce((total, { content }) => total + content.length, 0);
    const budget = new Budget(WHERE, length);
    const named = tokens.map((token) => [normalize(Aligned.of(token.content, budget)).text, token] as const);
    this.#byContent = new Map(named.filter(([content]) => content !== ""));
    const contents = Array.from(this.#byContent.keys(), (content) => [...content]);
    const long = contents.find(({ length }) => length > LONGEST);
    if (long !== undefined) throw refusal(`an added token must have at most ${LONGEST} characters`, long.length);
    this.#pattern = contents.length === 0 ? null : new RegExp(longestOf(contents, 0), "gu");
  }

  split(text: Aligned): Section[] {
    if (this.#pattern === null) return [{ text, token: null }];
    const sections: Section[] = [];
    let at = 0;
    const push = (from: number, to: number, token: AddedToken | null): void => {
      if (to > from) sections.push({ text: text.slice(from, to), token });
    };
    for (const { 0: found, index } of text.text.matchAll(this.#pattern)) {
      const token = this.#byContent.get(found);
      if (token === undefined || index < at) continue;
      const [before, after] = [text.text.slice(at, index), text.text.slice(index + found.length)];
      if (
        token.singleWord &&
        (/[\w\p{L}\p{M}\p{N}]$/u.test(text.text.slice(Math.max(0, index - 2), index)) ||
          /^[\w\p{L}\p{M}\p{N}]/u.test(after))
      ) {
        continue;
      }
      const from = token.takesLeft ? at + trimmedEnd(before) : index;
      const spaces = token.takesRight ? (/^\p{White_Space}+/u.exec(after)?.[0].length ?? 0) : 0;
      push(at, from, null);
      at = index + found.length + spaces;
      push(from, at, token);
    }
    push(at, text.text.length, null);
    return sections;
  }
}

/** A pattern of what is left of texts from `at` on. Texts that begin alike share their beginning, so it compares each character of a text once. */
function longestOf(texts: readonly (readonly string[])[], at: number): string {
  const byNext = new Map<string, (readonly string[])[]>();
  for (const text of texts) {
    const next = text[at];
    if (next === undefined) continue;
    const others = byNext.get(next);
    if (others === undefined) byNext.set(next, [text]);
    else others.push(text);
  }
  const rest = Array.from(byNext, ([next, others]) => literal(next) + longestOf(others, at + 1));
  const mayEnd = texts.some(({ length }) => length === at);
  if (rest.length <= 1 && !mayEnd) return rest.join("");
  return rest.length === 0 ? "" : `(?:${rest.join("|")})${mayEnd ? "?" : ""}`;
}
