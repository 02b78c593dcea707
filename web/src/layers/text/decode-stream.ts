// Decodes tokens as they come, by decoding the latest of them together with those before them: a word's space, or half of a character,
// depends on its neighbours.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { trimmedEnd } from "./normalizers.js";

/** A token that changes nothing beside it, and ends a sequence of byte tokens. */
const NEUTRAL = "a";

/** A character that is not whole takes at most three tokens, of a byte each. */
const MOST_PARTS = 3;

/** Makes text of tokens that come one by one. */
export class DecodeStream {
  readonly #tokenOf: (id: number) => string | null;
  readonly #decode: (tokens: readonly string[]) => string;
  /** The tokens of the last piece. */
  #context: readonly string[] = [];
  /** Tokens whose text was not given, or not all of it. */
  #pending: string[] = [];
  /** How much of the text of the pending tokens was given. */
  #given = 0;

  /** @internal Users call `Tokenizer.decodeStream`. */
  constructor(tokenOf: (id: number) => string | null, decode: (tokens: readonly string[]) => string) {
    this.#tokenOf = tokenOf;
    this.#decode = decode;
  }

  /** The text that a token adds: empty while it ends within a character. All pieces together are the text. Throws a HeedError. */
  push(id: number): string {
    if (!Number.isInteger(id) || id < 0) {
      throw new HeedError("option", `DecodeStream.push: id must be a whole number, 0 or more, got ${showValue(id)}`);
    }
    const token = this.#tokenOf(id);
    if (token === null) return "";
    this.#pending.push(token);
    const text = this.#textAfter(this.#context, this.#pending);
    if (text === "") return "";
    if (!isPartial(text)) return this.#give(text, this.#pending.length);
    const whole = this.#pending.length - (this.#pending.length > MOST_PARTS ? this.#partsOf(text) : Infinity);
    if (whole > 0) return this.#give(this.#textAfter(this.#context, this.#pending.slice(0, whole)), whole);
    return this.#giveUpTo(text, trimmedEnd(text, /\ufffd/u));
  }

  /** The rest, where the last token ended within a character. The stream may then begin anew. */
  flush(): string {
    const rest = this.#pending.length === 0 ? "" : this.#giveUpTo(this.#textAfter(this.#context, this.#pending));
    [this.#context, this.#pending, this.#given] = [[], [], 0];
    return rest;
  }

  #give(text: string, tokens: number): string {
    const piece = this.#giveUpTo(text);
    this.#context = this.#pending.slice(0, tokens);
    this.#pending = this.#pending.slice(tokens);
    this.#given = 0;
    return piece;
  }

  #giveUpTo(text: string, end = text.length): string {
    const piece = text.slice(this.#given, end);
    this.#given = Math.max(this.#given, end);
    return piece;
  }

  /** What tokens add to the text of those before them. */
  #textAfter(context: readonly string[], tokens: readonly string[]): string {
    const before = this.#decode(context);
    const all = this.#decode([...context, ...tokens]);
    const added = all.startsWith(before) ? all.slice(before.length) : null;
    if (added !== null && !isPartial(added)) return added;
    // Bytes that are not UTF-8 spoil whole bytes beside them.
    const apart = this.#decode([NEUTRAL, ...tokens]).slice(this.#decode([NEUTRAL]).length);
    return added === null || !isPartial(apart) ? apart : added;
  }

  /** How many tokens at the end may be a character that is not whole. */
  #partsOf(text: string): number {
    let [best, shortest] = [Infinity, text.length];
    for (let kept = 1; kept <= MOST_PARTS; kept++) {
      const [head, tail] = [this.#pending.slice(0, -kept), this.#pending.slice(-kept)];
      // Every cut within a character makes more of U+FFFD.
      const length = this.#textAfter(this.#context, head).length + this.#textAfter([NEUTRAL], tail).length;
      if (length <= shortest) [best, shortest] = [kept, length];
    }
    return best;
  }
}

const isPartial = (text: string): boolean => text.endsWith("\ufffd");
