// What a model needs of a tokenizer. heed's has it, and others do: anything with encode and decode.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { isRecord } from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";

/** A tokenizer of one's own. */
export interface TextCodec {
  /** Token ids, alone or as `ids` or `input_ids` of an object. heed's options are passed: `addSpecialTokens`, `maxLength`, `pair`. */
  encode(text: string, options?: object): unknown;
  decode(ids: ArrayLike<number>): string;
  /** Decodes tokens one by one. */
  decodeStream?(): { push(id: number): string; flush(): string };
}

export function readCodec(where: string, tokenizer: unknown): TextCodec {
  if (isRecord(tokenizer) && typeof tokenizer["encode"] === "function" && typeof tokenizer["decode"] === "function") {
    return tokenizer as unknown as TextCodec;
  }
  const rule = "texts need a tokenizer, with encode and decode: set the model's tokenizer, or give tokens";
  throw new HeedError("option", `${where}: ${rule}, got ${showValue(tokenizer)}`);
}

export interface EncodedText {
  readonly ids: number[];
  /** The range of each token in the text, where the tokenizer tells it. */
  readonly offsets: readonly (readonly [number, number])[] | undefined;
  readonly typeIds: readonly number[] | undefined;
}

export function encoded(where: string, codec: TextCodec, text: string, options: object): EncodedText {
  const made = guard("option", `${where}: tokenizer.encode`, () => codec.encode(text, options));
  const record = isRecord(made) && !("length" in made) ? made : {};
  const ids = numbersOf(record["ids"] ?? record["input_ids"] ?? made);
  if (ids === null || ids.some((id) => !Number.isInteger(id) || id < 0)) {
    throw new HeedError("option", `${where}: tokenizer.encode must give token ids, got ${showValue(made)}`);
  }
  const { offsets } = record as { readonly offsets?: EncodedText["offsets"] };
  return { ids: [...ids], offsets, typeIds: numbersOf(record["typeIds"]) ?? undefined };
}

export interface TokenStream {
  push(id: number): string;
  flush(): string;
}

/** Gives the text of tokens as they come, without half characters. */
export function tokenStream(codec: TextCodec | null): TokenStream {
  if (codec === null) return { push: () => "", flush: () => "" };
  return codec.decodeStream?.() ?? new WholeTexts(codec);
}

/** Decodes all tokens again with each one. */
class WholeTexts implements TokenStream {
  readonly #codec: TextCodec;
  readonly #ids: number[] = [];
  #given = "";

  constructor(codec: TextCodec) {
    this.#codec = codec;
  }

  push(id: number): string {
    this.#ids.push(id);
    const text = this.#codec.decode(this.#ids);
    return text.endsWith("\ufffd") ? "" : this.#give(text);
  }

  flush(): string {
    return this.#ids.length === 0 ? "" : this.#give(this.#codec.decode(this.#ids));
  }

  #give(text: string): string {
    const piece = text.slice(this.#given.length);
    this.#given = text;
    return piece;
  }
}
