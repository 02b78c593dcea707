// The tokens of a GGUF file with their kinds, and what all tokenizers make of them.

import type { Metadata } from "../metadata.js";

/** As tokenizer.json has it. */
export type TokenizerJson = Readonly<Record<string, unknown>>;

/** Kinds of tokens in `tokenizer.ggml.token_type`. */
export const NORMAL = 1;
const UNKNOWN = 2;
export const CONTROL = 3;
const USER_DEFINED = 4;

export class TokenList {
  readonly metadata: Metadata;
  readonly texts: readonly string[];
  readonly #types: readonly number[] | undefined;

  constructor(metadata: Metadata) {
    this.metadata = metadata;
    this.texts = this.#needed("tokens", metadata.texts("tokenizer.ggml.tokens"));
    this.#types = metadata.numbers("tokenizer.ggml.token_type");
    this.assertOneEach("token_type", this.#types);
  }

  assertOneEach(name: string, values: readonly unknown[] | undefined): void {
    if (values === undefined || values.length === this.texts.length) return;
    const rule = `tokenizer.ggml.${name} must have a value for each of ${this.texts.length} tokens`;
    throw this.metadata.refusal(rule, values.length);
  }

  scores(): readonly number[] {
    const scores = this.#needed("scores", this.metadata.numbers("tokenizer.ggml.scores"));
    this.assertOneEach("scores", scores);
    return scores;
  }

  merges(): readonly string[] {
    return this.#needed("merges", this.metadata.texts("tokenizer.ggml.merges"));
  }

  typeOf(id: number): number {
    return this.#types?.[id] ?? NORMAL;
  }

  /** The id of a special token; undefined where the file does not say. */
  idOf(name: string): number | undefined {
    const full = `tokenizer.ggml.${name}_token_id`;
    const id = this.metadata.whole(full);
    if (id === undefined || id < this.texts.length) return id;
    throw this.metadata.refusal(`${full} must be below ${this.texts.length}, the number of tokens`, id);
  }

  textOf(id: number | undefined): string | undefined {
    return id === undefined ? undefined : this.texts[id];
  }

  /** Ids by token. */
  vocabulary(textOf = (text: string, _id: number): string => text): Readonly<Record<string, number>> {
    return Object.fromEntries(this.texts.map((text, id) => [textOf(text, id), id]));
  }

  /** Tokens that are found in a text before it is tokenized. */
  added(): readonly object[] {
    const added: object[] = [];
    for (const [id, content] of this.texts.entries()) {
      const type = this.typeOf(id);
      const special = type === CONTROL || type === UNKNOWN;
      if (special || type === USER_DEFINED) added.push({ id, content, special, normalized: false });
    }
    return added;
  }

  /** Adds tokens in front of a text and behind it, where the file, or `absent` of the two, says so. */
  ends(absent: { readonly bos: boolean; readonly eos: boolean }): object | null {
    const { metadata } = this;
    const bos = (metadata.flag("tokenizer.ggml.add_bos_token") ?? absent.bos) ? this.idOf("bos") : undefined;
    const eos = (metadata.flag("tokenizer.ggml.add_eos_token") ?? absent.eos) ? this.idOf("eos") : undefined;
    return bos === undefined && eos === undefined ? null : this.template(bos, eos);
  }

  /** A pair of texts has the last token behind the first text too; the first token stands before the second one where there is no last one. */
  template(first: number | undefined, last: number | undefined): object {
    const slot = (id: number | undefined, type_id: number): object[] =>
      id === undefined ? [] : [{ SpecialToken: { id: String(id), type_id } }];
    const text = (id: "A" | "B", type_id: number): object => ({ Sequence: { id, type_id } });
    const single = [...slot(first, 0), text("A", 0), ...slot(last, 0)];
    const between = last === undefined ? slot(first, 1) : [];
    const ids = [first, last].filter((id) => id !== undefined);
    return {
      type: "TemplateProcessing",
      single,
      pair: [...single, ...between, text("B", 1), ...slot(last, 1)],
      special_tokens: Object.fromEntries(
        ids.map((id) => [id, { id: String(id), ids: [id], tokens: [this.textOf(id)] }]),
      ),
    };
  }

  #needed<T>(name: string, values: T | undefined): T {
    return this.metadata.required(`tokenizer.ggml.${name}`, values);
  }
}
