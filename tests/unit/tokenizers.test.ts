// Tokenizers against the library that their files are of: small ones of every shape that published models have.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadTokenizer } from "../../web/src/layers/index.js";

interface Case {
  readonly text: string;
  readonly pair?: string;
  readonly addSpecialTokens?: boolean;
  readonly maxLength?: number;
  readonly ids: number[];
  readonly offsets?: number[][];
  readonly typeIds?: number[];
  readonly decoded: string;
  /** With its special tokens, where that is another text. */
  readonly decodedAll?: string;
}

interface Made {
  readonly name: string;
  readonly tokenizer: Readonly<Record<string, unknown>>;
  readonly cases: readonly Case[];
}

const MADE: readonly Made[] = JSON.parse(readFileSync(new URL("../fixtures/tokenizers.json", import.meta.url), "utf8"));

/** Where marks are composed, the library excludes them from a token's offsets; here the offsets are all that the token came from. */
function comparable(name: string, text: string, offsets: readonly (readonly number[])[]): unknown {
  const isComposed = ["qwen", "clip"].includes(name) && text.normalize("NFC") !== text;
  return isComposed ? offsets.map(([start]) => start) : offsets;
}

/** The library writes added tokens as they were normalized; here they are as they were added. */
const letters = (name: string, text: string): string => (name === "added" ? text.toLowerCase() : text);

describe.each(MADE)("$name", ({ name, tokenizer: file, cases }) => {
  test.each(cases.map((one) => [JSON.stringify(one).slice(0, 60), one] as const))("%s", async (_name, one) => {
    const tokenizer = await loadTokenizer(file);
    const { text, pair, addSpecialTokens, maxLength, decodedAll = one.decoded } = one;
    const { ids, offsets, typeIds, tokens, mask } = tokenizer.encode(text, { pair, addSpecialTokens, maxLength });
    expect([...ids]).toEqual(one.ids);
    if (one.offsets !== undefined) expect(comparable(name, text, offsets)).toEqual(comparable(name, text, one.offsets));
    expect([...typeIds]).toEqual(one.typeIds ?? one.ids.map(() => 0));
    expect(tokens.map((token) => tokenizer.idOf(token))).toEqual(one.ids);
    expect(mask).toEqual(new Uint8Array(ids.length).fill(1));
    expect(letters(name, tokenizer.decode(ids))).toBe(letters(name, one.decoded));
    // Stored of single texts alone, which are enough.
    if (one.offsets === undefined || maxLength !== undefined || addSpecialTokens !== undefined) return;
    expect(letters(name, tokenizer.decode(ids, { skipSpecialTokens: false }))).toBe(letters(name, decodedAll));
  });
});
