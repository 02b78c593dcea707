// Texts as packs of any lengths, or as batches of equally many tokens: nothing is padded, and a text has the results that it has alone.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { listOf } from "../base/typed-array.js";
import type { ModelParts } from "./parts.js";
import { type EncodedText, encoded, readCodec } from "./text-codec.js";

export interface TextBatch {
  /** Which of the texts these are. */
  readonly texts: readonly number[];
  readonly length: number;
  readonly tokens: { readonly data: Int32Array; readonly shape: readonly [number, number] };
  /** Segments, where texts have more than one. */
  readonly tokenTypes: { readonly data: Int32Array; readonly shape: readonly [number, number] } | undefined;
}

/** A text, or a pair of them. */
export type TextOrPair = string | readonly [text: string, pair: string];

/** Tokens of a batch: enough to fill the kernels, and few enough to be aborted soon. */
const MOST_TOKENS = 4096;

export function readTexts(where: string, value: unknown): readonly TextOrPair[] {
  const isText = (one: unknown): boolean =>
    typeof one === "string" ||
    (Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === "string"));
  const list = typeof value === "string" ? [value] : listOf<TextOrPair>(value, undefined, isText);
  if (list !== null) return list;
  throw new HeedError(
    "option",
    `${where}: texts must be strings, or pairs of them, in an array, got ${showValue(value)}`,
  );
}

/** Longer texts are cut to what the model can read. */
export function encodeTexts(where: string, parts: ModelParts, texts: readonly TextOrPair[]): readonly EncodedText[] {
  const codec = readCodec(where, parts.tokenizer);
  const lengths = [parts.positions, parts.sentence.maxLength].filter((length) => length !== undefined);
  const limit = lengths.length === 0 ? {} : { maxLength: Math.min(...lengths) };
  return texts.map((input, at) => {
    const [text, pair] = typeof input === "string" ? [input] : input;
    const made = encoded(where, codec, text, { ...limit, ...(pair === undefined ? {} : { pair }) });
    if (made.ids.length > 0) return made;
    throw new HeedError("option", `${where}: texts[${at}] must have a token, got ${showValue(text)}, which has none`);
  });
}

/** Packed texts, one behind the other. */
export interface TextPack {
  readonly texts: readonly number[];
  readonly tokens: { readonly data: Int32Array; readonly shape: readonly [1, number] };
  readonly tokenTypes: { readonly data: Int32Array; readonly shape: readonly [1, number] } | undefined;
  /** Where each begins and the last ends. */
  readonly cuSeqlens: readonly number[];
}

/** Tokens of a pack, which activations of its rows still stay in the cache for. */
const PACKED_TOKENS = 1024;

/** Attention takes texts as if all were as long as the longest, of at least this many tokens. */
const LEAST_LENGTH = 32;

/** The most of these tokens of a pack. */
const MOST_SPREAD = 4 * PACKED_TOKENS;

/** Those of nearly one length come together, so that little is wasted where they are spread. */
export function* packsOf(texts: readonly EncodedText[]): Generator<TextPack> {
  const lengthOf = (at: number): number => texts[at]?.ids.length ?? 0;
  const order = [...texts.keys()].sort((a, b) => lengthOf(a) - lengthOf(b));
  let chosen: number[] = [];
  let count = 0;
  for (const at of order) {
    const length = lengthOf(at);
    const spread = (chosen.length + 1) * Math.max(LEAST_LENGTH, length);
    if (chosen.length > 0 && (count + length > PACKED_TOKENS || spread > MOST_SPREAD)) {
      yield packOf(texts, chosen);
      [chosen, count] = [[], 0];
    }
    chosen.push(at);
    count += length;
  }
  if (chosen.length > 0) yield packOf(texts, chosen);
}

function packOf(texts: readonly EncodedText[], chosen: readonly number[]): TextPack {
  const each = chosen.map((at) => texts[at] ?? NONE);
  const data = Int32Array.from(each.flatMap(({ ids }) => ids));
  const types = Int32Array.from(
    each.flatMap(({ ids, typeIds }) => [...(typeIds ?? new Array<number>(ids.length).fill(0))]),
  );
  const cuSeqlens = [0];
  for (const { ids } of each) cuSeqlens.push((cuSeqlens.at(-1) ?? 0) + ids.length);
  const shape = [1, data.length] as const;
  return {
    texts: chosen,
    tokens: { data, shape },
    tokenTypes: types.some((type) => type !== 0) ? { data: types, shape } : undefined,
    cuSeqlens,
  };
}

export function* batchesOf(texts: readonly EncodedText[]): Generator<TextBatch> {
  const byLength = new Map<number, number[]>();
  for (const [at, { ids }] of texts.entries()) {
    const same = byLength.get(ids.length) ?? [];
    byLength.set(ids.length, same);
    same.push(at);
  }
  for (const [length, all] of byLength) {
    const count = Math.max(1, Math.floor(MOST_TOKENS / length));
    for (let from = 0; from < all.length; from += count) yield batchOf(texts, all.slice(from, from + count), length);
  }
}

function batchOf(texts: readonly EncodedText[], chosen: readonly number[], length: number): TextBatch {
  const shape = [chosen.length, length] as const;
  const joined = (of: (text: EncodedText) => readonly number[] | undefined): Int32Array =>
    Int32Array.from(chosen.flatMap((at) => [...(of(texts[at] ?? NONE) ?? new Array<number>(length).fill(0))]));
  const types = joined(({ typeIds }) => typeIds);
  return {
    texts: chosen,
    length,
    tokens: { data: joined(({ ids }) => ids), shape },
    tokenTypes: types.some((type) => type !== 0) ? { data: types, shape } : undefined,
  };
}

const NONE: EncodedText = { ids: [], offsets: undefined, typeIds: undefined };
