// A tokenizer of a tokenizer.json: from text to tokens and back.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import { isOptions, readBoolean, readChoice, readCount, readRecord, readSignal } from "../../base/read-values.js";
import { listOf, MOST_LISTED, numbersOf } from "../../base/typed-array.js";
import { type FileSource, readText } from "../io/byte-reader.js";
import { parseJson } from "../io/unique-json.js";
import { type AddedToken, readAddedTokens, TokenFinder } from "./added-tokens.js";
import { Aligned } from "./aligned.js";
import { Budget } from "./budget.js";
import { Component, refusal, WHERE } from "./component.js";
import { DecodeStream } from "./decode-stream.js";
import { type Decoder, NO_DECODER, readDecoder } from "./decoders.js";
import type { Model } from "./model.js";
import { readModel } from "./models.js";
import { type Normalizer, readNormalizer } from "./normalizers.js";
import { NO_POST_PROCESSOR, type PostProcessor, readPostProcessor, type Token } from "./post-processors.js";
import { type PreTokenizer, readPreTokenizer } from "./pre-tokenizers.js";
import { cut, SIDES, STRATEGIES, shares, type TruncationSide, type TruncationStrategy } from "./truncation.js";

/** Options of every text of a batch. */
export interface EncodeBatchOptions {
  /** Adds the special tokens that the model expects around texts, such as [CLS]. Default true. */
  readonly addSpecialTokens?: boolean | undefined;
  /** The most tokens, added ones included. Default no limit. */
  readonly maxLength?: number | undefined;
  /** Which text of a pair is cut. Default "longest_first": the longer one, and once both are equally long, both. */
  readonly truncation?: TruncationStrategy | undefined;
  /** Where texts are cut: at their ends ("right", the default) or starts. */
  readonly truncationSide?: TruncationSide | undefined;
}

/** The options of `encode`. */
export interface EncodeOptions extends EncodeBatchOptions {
  /** A second text. */
  readonly pair?: string | undefined;
}

/** A text, or a pair of texts. */
export type TextInput = string | readonly [text: string, pair: string];

/** The tokens of a text. */
export interface Encoding {
  readonly ids: Int32Array<ArrayBuffer>;
  readonly tokens: readonly string[];
  /** The range of each token in its text, for `text.slice(start, end)`; 0 and 0 for added tokens. */
  readonly offsets: readonly (readonly [number, number])[];
  /** Which text of a pair a token belongs to. */
  readonly typeIds: Int32Array<ArrayBuffer>;
  /** A 1 for each token. A batch pads it with zeros. */
  readonly mask: Uint8Array<ArrayBuffer>;
}

/** The options of `decode`. */
export interface DecodeOptions {
  /** Drops special tokens. Default true. */
  readonly skipSpecialTokens?: boolean | undefined;
}

/** Larger files are refused. The largest tokenizers have about 20 MB. */
const LARGEST_FILE = 200_000_000;

/** Reads a tokenizer.json, or takes its parsed content. Rejects with a HeedError. */
export async function loadTokenizer(
  source: FileSource | Readonly<Record<string, unknown>>,
  options?: { readonly signal?: AbortSignal | undefined },
): Promise<Tokenizer> {
  return guardAsync("load", WHERE, async () => {
    const signal = readSignal(WHERE, readRecord(WHERE, "options", options, ["signal"])["signal"]);
    if (isOptions(source) && ("model" in source || "tokenizer_class" in source)) return new Tokenizer(source);
    return new Tokenizer(parseJson(WHERE, "the file", await readText(WHERE, source, LARGEST_FILE, signal)));
  });
}

/** Makes tokens of text and text of tokens, as a tokenizer.json or a GGUF file says. */
export class Tokenizer {
  /** One more than the highest id. */
  readonly vocabularySize: number;
  readonly #model: Model;
  readonly #normalize: Normalizer;
  readonly #preTokenize: PreTokenizer;
  readonly #postProcessor: PostProcessor;
  readonly #decode: Decoder;
  readonly #added: ReadonlyMap<number, AddedToken>;
  readonly #rawFinder: TokenFinder;
  readonly #normalizedFinder: TokenFinder;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #tokens = new Map<number, string>();

  /** @internal Users call `loadTokenizer`. */
  constructor(json: unknown) {
    const { added, ...parts } = guard("load", WHERE, () => readParts(json));
    this.#model = parts.model;
    this.#normalize = parts.normalize;
    this.#preTokenize = parts.preTokenize;
    this.#postProcessor = parts.postProcessor;
    this.#decode = parts.decode;
    this.#added = new Map(added.map((token) => [token.id, token]));
    const raw = added.filter(({ normalized }) => !normalized);
    this.#rawFinder = new TokenFinder(raw, (text) => text);
    const normalized = added.filter((token) => token.normalized);
    this.#normalizedFinder = new TokenFinder(normalized, this.#normalize);
    this.#ids = new Map([...this.#model.vocabulary, ...added.map(({ content, id }) => [content, id] as const)]);
    let size = 0;
    for (const [token, id] of this.#ids) {
      this.#tokens.set(id, token);
      size = Math.max(size, id + 1);
    }
    this.vocabularySize = size;
  }

  /** The id of a token; undefined where the vocabulary does not have it. */
  idOf(token: string): number | undefined {
    return this.#ids.get(token);
  }

  /** The token of an id, as it is in the vocabulary. */
  tokenOf(id: number): string | undefined {
    return this.#tokens.get(id);
  }

  /** Unpaired surrogates are read as U+FFFD. Throws a HeedError. */
  encode(text: string, options?: EncodeOptions): Encoding {
    const where = "Tokenizer.encode";
    return guard("option", where, () => {
      const given = readRecord(where, "options", options, ["pair", ...ENCODE_OPTIONS]);
      const pair = given["pair"] === undefined ? null : readString(where, "pair", given["pair"]);
      return this.#encode(where, readString(where, "text", text), pair, readEncodeOptions(where, given));
    });
  }

  /** The encodings of several texts or pairs of texts. Throws a HeedError. */
  encodeBatch(texts: readonly TextInput[], options?: EncodeBatchOptions): Encoding[] {
    const where = "Tokenizer.encodeBatch";
    return guard("option", where, () => {
      const given = readEncodeOptions(where, readRecord(where, "options", options, ENCODE_OPTIONS));
      const list = listOf(texts);
      if (list === null) throw new HeedError("option", `${where}: texts must be an array, got ${showValue(texts)}`);
      const inputs = list.map((input, index) => readInput(where, `texts[${index}]`, input));
      return inputs.map(([text, pair]) => this.#encode(where, text, pair, given));
    });
  }

  /** Ids without a token are skipped, because models often have more than their tokenizers. Throws a HeedError. */
  decode(ids: ArrayLike<number>, options?: DecodeOptions): string {
    const where = "Tokenizer.decode";
    return guard("option", where, () => {
      const skips = readSkips(where, options);
      const numbers = numbersOf(ids);
      if (numbers === null || !numbers.every((id) => Number.isInteger(id) && id >= 0)) {
        throw new HeedError(
          "option",
          `${where}: ids must be whole numbers, 0 or more, at most ${MOST_LISTED}, got ${showValue(ids)}`,
        );
      }
      const tokens = numbers.map((id) => this.#shown(id, skips)).filter((token) => token !== null);
      return this.#textOf(where, tokens);
    });
  }

  /** Decodes tokens one at a time, so that no character is split. Throws a HeedError. */
  decodeStream(options?: DecodeOptions): DecodeStream {
    const skips = guard("option", "Tokenizer.decodeStream", () => readSkips("Tokenizer.decodeStream", options));
    return new DecodeStream(
      (id) => this.#shown(id, skips),
      (tokens) => this.#textOf("DecodeStream.push", tokens),
    );
  }

  /** The token of an id; null where it has none or it is left out. */
  #shown(id: number, skips: boolean): string | null {
    return skips && this.#added.get(id)?.special ? null : (this.#tokens.get(id) ?? null);
  }

  #textOf(where: string, tokens: readonly string[]): string {
    const length = tokens.reduce((total, token) => total + token.length, 0);
    return this.#decode(tokens, new Budget(where, length)).join("");
  }

  #encode(where: string, text: string, pair: string | null, options: ReadOptions): Encoding {
    const { addSpecialTokens, maxLength, truncation, side } = options;
    const first = this.#tokensOf(where, text);
    const second = pair === null ? null : this.#tokensOf(where, pair);
    const added = addSpecialTokens ? this.#postProcessor.added(second !== null) : 0;
    if (maxLength < added) {
      throw new HeedError("option", `${where}: maxLength must leave room for ${added} added tokens, got ${maxLength}`);
    }
    const room = maxLength - added;
    const [kept, keptOfPair] = shares(where, truncation, first.length, second?.length, room);
    const cutPair = second && cut(second, keptOfPair, side);
    return encodingOf(this.#postProcessor.process(cut(first, kept, side), cutPair, addSpecialTokens));
  }

  #tokensOf(where: string, text: string): Token[] {
    const tokens: Token[] = [];
    const push = (id: number, [start, end]: readonly [number, number]): void => {
      tokens.push({ id, text: this.#tokens.get(id) ?? "", start, end, typeId: 0 });
    };
    for (const section of this.#sections(Aligned.of(wellFormed(text), new Budget(where, text.length)))) {
      if (section.token !== null) {
        push(section.token.id, section.text.range(0, section.text.text.length));
        continue;
      }
      const isFirst = section.text.starts[0] === 0;
      for (const word of this.#preTokenize(section.text, isFirst)) {
        if (word.text === "") continue;
        for (const { id, from, to } of this.#model.tokenize(word)) push(id, word.range(from, to));
      }
    }
    return tokens;
  }

  /** Splits at added tokens: first in the raw text, then in the normalized rest. */
  *#sections(text: Aligned): Generator<{ readonly text: Aligned; readonly token: AddedToken | null }> {
    for (const section of this.#rawFinder.split(text)) {
      if (section.token !== null) yield section;
      else yield* this.#normalizedFinder.split(this.#normalize(section.text));
    }
  }
}

/** The parts of a tokenizer.json. */
function readParts(json: unknown) {
  const file = new Component("the tokenizer", json);
  if (file.get("model") === undefined && file.get("tokenizer_class") !== undefined) {
    throw refusal("the file must be tokenizer.json", "tokenizer_config.json");
  }
  const part = <P>(name: string, absent: P, read: (component: Component) => P): P => {
    const component = file.optional(name);
    return component === null ? absent : read(component);
  };
  return {
    model: readModel(file.part("model")),
    normalize: part<Normalizer>("normalizer", (text) => text, readNormalizer),
    preTokenize: part<PreTokenizer>("pre_tokenizer", (text) => [text], readPreTokenizer),
    postProcessor: part("post_processor", NO_POST_PROCESSOR, readPostProcessor),
    decode: part("decoder", NO_DECODER, readDecoder),
    added: readAddedTokens(file),
  };
}

function encodingOf(tokens: readonly Token[]): Encoding {
  return {
    ids: Int32Array.from(tokens, ({ id }) => id),
    tokens: tokens.map(({ text }) => text),
    offsets: tokens.map(({ start, end }) => [start, end] as const),
    typeIds: Int32Array.from(tokens, ({ typeId }) => typeId),
    mask: new Uint8Array(tokens.length).fill(1),
  };
}

const ENCODE_OPTIONS = ["addSpecialTokens", "maxLength", "truncation", "truncationSide"];

interface ReadOptions {
  readonly addSpecialTokens: boolean;
  readonly maxLength: number;
  readonly truncation: TruncationStrategy;
  readonly side: TruncationSide;
}

function readEncodeOptions(where: string, given: Readonly<Record<string, unknown>>): ReadOptions {
  return {
    addSpecialTokens: readBoolean(where, "addSpecialTokens", given["addSpecialTokens"], true),
    maxLength: readCount(where, "maxLength", given["maxLength"], Infinity),
    truncation: readChoice(where, "truncation", given["truncation"], STRATEGIES, "longest_first"),
    side: readChoice(where, "truncationSide", given["truncationSide"], SIDES, "right"),
  };
}

function readSkips(where: string, options: unknown): boolean {
  const given = readRecord(where, "options", options, ["skipSpecialTokens"]);
  return readBoolean(where, "skipSpecialTokens", given["skipSpecialTokens"], true);
}

function readInput(where: string, name: string, input: unknown): [text: string, pair: string | null] {
  if (typeof input === "string") return [input, null];
  const [text, pair] = listOf(input, 2) ?? [];
  if (typeof text === "string" && typeof pair === "string") return [text, pair];
  throw new HeedError("option", `${where}: ${name} must be a string or two, got ${showValue(input)}`);
}

function readString(where: string, name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new HeedError("option", `${where}: ${name} must be a string, got ${showValue(value)}`);
}

const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd");
