// Tokenizers against the library that their files are of: small ones of every shape that published models have.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadTokenizer, type TruncationSide, type TruncationStrategy } from "../../web/src/layers/text/index.js";

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

interface Truncation extends Omit<Case, "ids"> {
  readonly name: string;
  readonly maxLength: number;
  readonly truncation: TruncationStrategy;
  readonly truncationSide: TruncationSide;
  /** Null where the library refuses. */
  readonly ids: number[] | null;
}

interface Stream {
  readonly name: string;
  readonly ids: readonly number[];
  readonly skipSpecialTokens: boolean;
  readonly pieces: readonly string[];
  readonly decoded: string;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8"));
const TEXT: { made: readonly Made[]; truncations: readonly Truncation[]; streams: readonly Stream[] } =
  read("text.json");
const MADE: readonly Made[] = [...read("tokenizers.json"), ...TEXT.made];

function fileOf(name: string): Readonly<Record<string, unknown>> {
  const made = MADE.find((one) => one.name === name);
  if (made === undefined) throw new Error(`no tokenizer ${name}`);
  return made.tokenizer;
}

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
    // Where rules replace several characters by one, the library's range may have fewer of them.
    if (TEXT.made.some((made) => made.name === name)) {
      for (const [index, [start = 0, end = 0]] of (one.offsets ?? []).entries()) {
        expect([Math.min(start, offsets[index]?.[0] ?? -1), Math.max(end, offsets[index]?.[1] ?? -1)]).toEqual(
          offsets[index],
        );
      }
    } else if (one.offsets !== undefined)
      expect(comparable(name, text, offsets)).toEqual(comparable(name, text, one.offsets));
    expect([...typeIds]).toEqual(one.typeIds ?? one.ids.map(() => 0));
    expect(tokens.map((token) => tokenizer.idOf(token))).toEqual(one.ids);
    expect(mask).toEqual(new Uint8Array(ids.length).fill(1));
    expect(letters(name, tokenizer.decode(ids))).toBe(letters(name, one.decoded));
    // Stored of single texts alone, which are enough.
    if (one.offsets === undefined || maxLength !== undefined || addSpecialTokens !== undefined) return;
    expect(letters(name, tokenizer.decode(ids, { skipSpecialTokens: false }))).toBe(letters(name, decodedAll));
  });
});

const titled = <T>(cases: readonly T[]): [string, T][] => cases.map((one) => [JSON.stringify(one).slice(0, 120), one]);

test.each(titled(TEXT.truncations))("cut by the library: %s", async (_name, { name, ids, typeIds, ...one }) => {
  const { text, ...options } = one;
  const tokenizer = await loadTokenizer(fileOf(name));
  if (ids === null) {
    const refused = expect.objectContaining({
      code: "option",
      message: expect.stringMatching(/^Tokenizer.encode: trunc/),
    });
    expect(() => tokenizer.encode(text, options)).toThrow(refused);
    return;
  }
  const encoding = tokenizer.encode(text, options);
  expect([...encoding.ids]).toEqual(ids);
  expect([...encoding.typeIds]).toEqual(typeIds);
  const { pair, ...shared } = options;
  expect(tokenizer.encodeBatch([pair === undefined ? text : [text, pair]], shared)).toEqual([encoding]);
});

test.each(titled(TEXT.streams))(
  "streamed by the library: %s",
  async (_name, { name, ids, pieces, decoded, ...options }) => {
    const stream = (await loadTokenizer(fileOf(name))).decodeStream(options);
    const given = ids.map((id) => stream.push(id));
    expect(given.join("") + stream.flush()).toBe(decoded);
    // A U+FFFD of the text itself cannot be told from a part of a character: how long it is held differs.
    if (!decoded.includes("\ufffd")) expect(given).toEqual(pieces);
  },
);
