// Texts that grow by a token each, and what of them was computed.

import type { ArrayTensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { askForLogits } from "../layers/generate/ask.js";
import type { TokenInput } from "../layers/models/tokens.js";
import type { ModelForwardOptions } from "./model.js";
import { circumstancesOf, createModelCache, ModelCache } from "./model-cache.js";
import type { ModelParts } from "./parts.js";

/** What a pass looked at on its way, where it was asked for. */
export interface Seen {
  /** What the last token attended to, [1, H, 1, S] a layer. */
  readonly attentions: readonly ArrayTensor[] | undefined;
  /** [1, 1, dim] each. */
  readonly hiddenStates: readonly ArrayTensor[] | undefined;
  /** [1, H, 1, S] a layer. */
  readonly scores: readonly ArrayTensor[] | undefined;
}

/** What a model says of the next token of a text. */
export interface Step extends Seen {
  readonly logits: Float32Array;
}

export interface Beginning {
  /** Options of `forward` that look at passes or change them. */
  readonly watching: Readonly<Record<string, unknown>>;
  readonly cache: unknown;
  readonly onPrompt: unknown;
  readonly signal: AbortSignal | null;
  readonly maxTokens: number;
}

/** Tokens of a prompt that are computed at a time. */
const CHUNK = 256;

interface Text {
  readonly tokens: number[];
  /** Null where a hook needs the values of all tokens. */
  readonly cache: ModelCache | null;
  /** How many tokens the cache holds. */
  computed: number;
  isPrompt: boolean;
}

export class Continuations {
  readonly #where: string;
  readonly #parts: ModelParts;
  readonly #beginning: Beginning;
  readonly #texts: Text[] = [];
  /** Caches that are freed at the end. */
  readonly #own: ModelCache[] = [];

  static async begin(
    where: string,
    parts: ModelParts,
    prompts: readonly (readonly number[])[],
    beginning: Beginning,
  ): Promise<Continuations> {
    const texts = new Continuations(where, parts, beginning);
    try {
      await texts.#begin(prompts);
      return texts;
    } catch (error) {
      texts.close();
      throw error;
    }
  }

  private constructor(where: string, parts: ModelParts, beginning: Beginning) {
    this.#where = where;
    this.#parts = parts;
    this.#beginning = beginning;
  }

  lengthOf(sequence: number): number {
    return this.#textOf(sequence).tokens.length;
  }

  /** The most tokens that can be computed. */
  roomOf(sequence: number): number {
    return this.#textOf(sequence).cache?.maxLength ?? Infinity;
  }

  push(sequence: number, token: number): void {
    this.#textOf(sequence).tokens.push(token);
  }

  /** The logits of the next token of these sequences, and what was looked at on the way. Those that lack one token are computed together. */
  async next(sequences: readonly number[]): Promise<readonly Step[]> {
    const texts = sequences.map((sequence) => this.#textOf(sequence));
    const isReady = ({ tokens, computed }: Text): boolean => computed === tokens.length - 1;
    const together = this.#seesOneText ? [] : texts.filter(isReady);
    const made = new Map<Text, Step>();
    if (together.length > 1) for (const [text, step] of await this.#together(together)) made.set(text, step);
    const steps: Step[] = [];
    for (const text of texts) steps.push(made.get(text) ?? (await this.#alone(text)));
    return steps;
  }

  close(): void {
    for (const { cache } of this.#texts) cache?.end();
    for (const cache of this.#own) cache.dispose();
  }

  async #begin(prompts: readonly (readonly number[])[]): Promise<void> {
    const [where, parts] = [this.#where, this.#parts];
    const { watching, maxTokens, cache } = this.#beginning;
    const { hooks, adapter } = watching;
    const held = typeof adapter === "string" ? parts.adapters.identityOf(where, adapter) : adapter;
    const given = this.#needsAllValues ? null : cachesOf(where, cache, prompts.length);
    // Caches of one size have pages of one size, and are read together.
    const longest = Math.max(0, ...prompts.map(({ length }) => length));
    const size = Math.min(longest + maxTokens, parts.positions ?? Infinity);
    for (const [sequence, prompt] of prompts.entries()) {
      const text = { tokens: [...prompt], computed: 0, isPrompt: true };
      if (this.#needsAllValues) {
        this.#texts.push({ ...text, cache: null });
        continue;
      }
      const used = given?.[sequence] ?? (await createModelCache(where, parts.model, size, {}));
      if (given === null) this.#own.push(used);
      if (prompt.length > used.maxLength) {
        throw new HeedError(
          "option",
          `${where}: cache must hold the prompt, ${prompt.length} tokens, got maxLength ${used.maxLength}`,
        );
      }
      const computed = await used.begin(where, prompt, circumstancesOf(hooks, held));
      this.#texts.push({ ...text, cache: used, computed });
    }
  }

  /** Whether a function replaces weights, for which there must be no cache. */
  get #needsAllValues(): boolean {
    return this.#hooks.some((hook) => isRecord(hook) && typeof hook["weights"] === "function");
  }

  /** Whether a function is told what goes on in a text: it sees one at a time. */
  get #seesOneText(): boolean {
    return this.#hooks.some((hook) =>
      [hook, ...(isRecord(hook) ? Object.values(hook) : [])].some((one) => typeof one === "function"),
    );
  }

  get #hooks(): readonly unknown[] {
    return Object.values(this.#beginning.watching["hooks"] ?? {});
  }

  #textOf(sequence: number): Text {
    const text = this.#texts[sequence];
    if (text === undefined) throw new TypeError("a sequence has a text");
    return text;
  }

  /** The next tokens of several texts in one pass. */
  async #together(texts: readonly Text[]): Promise<readonly (readonly [Text, Step])[]> {
    const caches = texts.map(({ cache }) => cache?.caches ?? []);
    const layers = (caches[0] ?? []).map((_, layer) => caches.flatMap((own) => own[layer] ?? []));
    const last = texts.map(({ tokens }) => tokens.at(-1) ?? 0);
    const made = await this.#forward({ data: last, shape: [last.length, 1] }, texts.length, { caches: layers });
    const each = made.logits.length / texts.length;
    return texts.map((text, at) => {
      this.#took(text, last.slice(at, at + 1));
      const step = {
        logits: made.logits.subarray(at * each, (at + 1) * each),
        attentions: made.attentions?.map((weights) => entryOf(weights, at, text.computed)),
        hiddenStates: made.hiddenStates?.map((state) => entryOf(state, at)),
        scores: made.scores?.map((scores) => entryOf(scores, at, text.computed)),
      };
      return [text, step];
    });
  }

  async #alone(text: Text): Promise<Step> {
    const { attentions, hiddenStates, scores } = this.#beginning.watching;
    const isWatched = [attentions, hiddenStates, scores].some((one) => (one ?? false) !== false);
    const { length: total } = text.tokens;
    // What is looked at is that of the last token.
    const last = isWatched && text.cache !== null ? total - 1 : total;
    while (text.computed < last) {
      const from = text.cache === null ? 0 : text.computed;
      const to = text.cache === null ? last : Math.min(from + CHUNK, last);
      const step = await this.#part(text, from, to);
      if (to === total) return step;
    }
    return this.#part(text, total - 1, total);
  }

  #report(text: Text, loaded: number): void {
    const { onPrompt } = this.#beginning;
    const total = text.tokens.length;
    const sequence = this.#texts.indexOf(text);
    if (loaded === total) text.isPrompt = false;
    if (typeof onPrompt === "function") Reflect.apply(onPrompt, undefined, [{ loaded, total, sequence }]);
  }

  async #part(text: Text, from: number, to: number): Promise<Step> {
    const { cache, tokens } = text;
    const part = tokens.slice(from, to);
    const isLast = to === tokens.length;
    const step = await this.#forward(part, 1, cache === null ? {} : { caches: cache.caches }, isLast);
    this.#took(text, part);
    if (cache !== null) return step;
    const { logits, attentions, hiddenStates, scores } = step;
    return {
      logits,
      attentions: attentions?.map(lastRowOf),
      hiddenStates: hiddenStates?.map(lastRowOf),
      scores: scores?.map(lastRowOf),
    };
  }

  async #forward(
    tokens: TokenInput,
    count: number,
    caches: Pick<ModelForwardOptions, "caches">,
    isLast = true,
  ): Promise<Step> {
    const { signal, watching } = this.#beginning;
    const { attentions, hiddenStates, scores, ...changes } = watching;
    const seen: Readonly<Record<string, unknown>> = isLast ? { attentions, hiddenStates, scores } : {};
    const made = await this.#parts.model.forward(tokens, {
      ...changes,
      ...seen,
      ...caches,
      last: true,
      ...(signal && { signal }),
    });
    const logits = await askForLogits(this.#where, null, count, () => made.logits?.data);
    return { logits, attentions: made.attentions, hiddenStates: made.hiddenStates, scores: made.scores };
  }

  #took(text: Text, tokens: readonly number[]): void {
    text.cache?.took(tokens);
    const loaded = text.computed + tokens.length;
    text.computed = text.cache === null ? 0 : loaded;
    if (text.isPrompt) this.#report(text, loaded);
  }
}

/** Null where none were given. */
function cachesOf(where: string, value: unknown, count: number): readonly ModelCache[] | null {
  if (value === undefined) return null;
  const caches = listOf<ModelCache>(Array.isArray(value) ? value : [value], count, (one) => one instanceof ModelCache);
  if (caches?.length === count) {
    if (new Set(caches.map(({ options }) => options)).size <= 1) return caches;
    const rule = "caches of several sequences must be made with the same options of createCache";
    throw new HeedError("option", `${where}: ${rule}, got others`);
  }
  const wanted =
    count === 1
      ? "made by createCache of the model"
      : `${count} that createCache of the model made, one for each sequence`;
  throw new HeedError("option", `${where}: cache must be ${wanted}, got ${showValue(value)}`);
}

/** What the last token has of a tensor [..., L, numbers]. */
function lastRowOf({ data, shape, dtype }: ArrayTensor): ArrayTensor {
  const [rows = 1, width = 1] = shape.slice(-2);
  const own = Float32Array.from({ length: data.length / rows }, (_, at) => {
    const row = Math.floor(at / width) * rows + rows - 1;
    return data[row * width + (at % width)] ?? 0;
  });
  return { data: own, shape: [...shape.slice(0, -2), 1, width], dtype };
}

/** What a batch entry has of a tensor [B, ..., numbers], of which the last may be cut. */
function entryOf({ data, shape, dtype }: ArrayTensor, entry: number, kept?: number): ArrayTensor {
  const [, ...rest] = shape;
  const width = rest.at(-1) ?? 1;
  const size = rest.reduce((product, one) => product * one, 1);
  const numbers = Math.min(kept ?? width, width);
  const own = new Float32Array((size / width) * numbers);
  for (let row = 0; row * numbers < own.length; row++) {
    const from = entry * size + row * width;
    own.set(data.subarray(from, from + numbers), row * numbers);
  }
  return { data: own, shape: [1, ...rest.slice(0, -1), numbers], dtype };
}
