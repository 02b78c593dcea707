// SentencePiece's compiled rules of normalization: replacements of characters, found by a double-array trie (Darts) of their UTF-8 bytes.

import { HeedError } from "../../base/errors.js";
import type { Aligned, Change } from "./aligned.js";
import { type Component, refusal, WHERE } from "./component.js";

/** The most bytes that replace a character. NFKC has up to 33. */
const LONGEST = 256;

/** A grapheme of fewer bytes is looked for as a whole, and only then by its characters, as SentencePiece's users do. */
const SHORT = 6;

/** How many characters are cached with their replacements. */
const CACHED = 10_000;

/**
 * A character with the marks after it. Only graphemes of at most five bytes matter, so letters of Hangul, flags and families of emoji, which
 * have more, are taken apart.
 */
const GRAPHEMES =
  /\r\n|(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\u200c|\u200d)(?:[\p{Grapheme_Extend}\p{Emoji_Modifier}\p{Mc}\u0e33\u0eb3]|\u200d)*|[\s\S]/gu;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function readPrecompiled(component: Component): (text: Aligned) => Aligned {
  const rules = new Rules(component, bytesOf(component));
  return (text) => {
    const changes: Change[] = [];
    for (const { 0: grapheme, index } of text.text.matchAll(GRAPHEMES)) {
      const whole = rules.find(grapheme);
      if (whole !== null) changes.push({ from: index, to: index + grapheme.length, text: whole });
      else changes.push(...rules.each(grapheme, index));
    }
    return text.change(changes);
  };
}

class Rules {
  readonly #units: Uint32Array;
  /** The replacements, each ended by a zero. */
  readonly #texts: Uint8Array;
  readonly #cache = new Map<string, string | null>();

  /** Bytes are the size of the trie, its units, and the replacements. */
  constructor(component: Component, bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = bytes.length < 4 ? 0 : view.getUint32(0, true);
    if (size === 0 || size % 4 !== 0 || 4 + size > bytes.length) {
      throw refusal(`${component.what}: precompiled_charsmap must have a trie in ${bytes.length} bytes`, size);
    }
    this.#units = Uint32Array.from({ length: size / 4 }, (_, index) => view.getUint32(4 + 4 * index, true));
    this.#texts = bytes.subarray(4 + size);
    const longest = longestText(this.#texts);
    if (longest > LONGEST) {
      throw refusal(`${component.what}: precompiled_charsmap must replace by at most ${LONGEST} bytes`, longest);
    }
  }

  /** What replaces a short text; null where nothing does. */
  find(text: string): string | null {
    if (text.length >= SHORT) return null;
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const bytes = encoder.encode(text);
    const found = bytes.length < SHORT ? this.#search(bytes) : null;
    if (this.#cache.size >= CACHED) this.#cache.clear();
    this.#cache.set(text, found);
    return found;
  }

  /** The changes of the characters of a grapheme at `index`. */
  *each(grapheme: string, index: number): Generator<Change> {
    let from = index;
    for (const character of grapheme) {
      const text = this.find(character);
      if (text !== null) yield { from, to: from + character.length, text };
      from += character.length;
    }
  }

  /** By the shortest entry that the bytes begin with. */
  #search(bytes: Uint8Array): string | null {
    let at = offsetOf(this.#units[0] ?? 0);
    for (const byte of bytes) {
      at ^= byte;
      const unit = this.#units[at] ?? 0;
      if (byte === 0 || (unit & LABEL) !== byte) return null;
      at ^= offsetOf(unit);
      if ((unit & HAS_VALUE) !== 0) return this.#textAt((this.#units[at] ?? 0) & VALUE);
    }
    return null;
  }

  #textAt(from: number): string {
    const end = this.#texts.indexOf(0, from);
    return decoder.decode(this.#texts.subarray(from, end === -1 ? this.#texts.length : end));
  }
}

/** The bits of a unit. A label that is no byte belongs to a value. */
const LABEL = 0x800000ff;
const HAS_VALUE = 0x100;
const VALUE = 0x7fffffff;
const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);

function bytesOf(component: Component): Uint8Array {
  const base64 = component.text("precompiled_charsmap", "");
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch (cause) {
    const rule = "precompiled_charsmap must be base64";
    throw new HeedError("load", `${WHERE}: ${component.what}: ${rule}, got a text of ${base64.length}`, { cause });
  }
}

function longestText(texts: Uint8Array): number {
  let [longest, start] = [0, 0];
  for (let at = 0; at <= texts.length; at++) {
    if (at < texts.length && texts[at] !== 0) continue;
    longest = Math.max(longest, at - start);
    start = at + 1;
  }
  return longest;
}
