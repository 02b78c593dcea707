// Texts as batches of equally many tokens: nothing is padded, and a text's results are those that it has alone.

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
