// Text from a model, piece by piece.

import type { ArrayTensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readRecord, readSignal } from "../base/read-values.js";
import { listOf, numbersOf } from "../base/typed-array.js";
import { askForLogits } from "../layers/generate/ask.js";
import { draw } from "../layers/generate/draw.js";
import { readIds, readSampleOptions, type SampleOptions } from "../layers/generate/options.js";
import { SeededRandom } from "../layers/generate/random.js";
import type { WatchOptions } from "../layers/watch.js";
import { isMessages, type Message, renderChat } from "./chat-template.js";
import { createModelCache, ModelCache } from "./model-cache.js";
import type { ModelParts } from "./parts.js";
import { StopStrings } from "./stop-strings.js";
import { encoded, readCodec, tokenStream } from "./text-codec.js";

/** What a model continues: the turns of a dialogue, a text, or tokens. */
export type Prompt = readonly Message[] | string | ArrayLike<number>;

export interface TextOptions extends Omit<SampleOptions, "eos">, WatchOptions {
  /** 0 takes the likeliest token. Default 0. */
  readonly temperature?: number | undefined;
  /** Strings before which the text ends. */
  readonly stop?: string | readonly string[] | undefined;
  /** Tokens that end the text. Default those of the model's files. */
  readonly eos?: number | readonly number[] | undefined;
  /** A cache that is kept: the tokens that it has in common with the prompt are not computed again. */
  readonly cache?: ModelCache | undefined;
  /** Called as the prompt is read: how many of its tokens were. */
  readonly onPrompt?: ((progress: { readonly loaded: number; readonly total: number }) => void) | undefined;
  /** Variables of the chat template beside the messages, such as `tools`. */
  readonly template?: Readonly<Record<string, unknown>> | undefined;
}

/** What a token adds to the text. */
export interface Piece {
  /** Empty where the token ends within a character, or may begin a string of `stop`. */
  readonly text: string;
  /** One token; none in the last piece. */
  readonly tokens: readonly number[];
  /** Where they were asked for: what the token before this one attended to, [1, H, 1, S] a layer. */
  readonly attentions: readonly ArrayTensor[] | undefined;
  /** Likewise, [1, 1, dim] each. */
  readonly hiddenStates: readonly ArrayTensor[] | undefined;
  /** In the last piece, why the text ends: a token of the model's, a string of `stop`, or enough tokens. */
  readonly end: "eos" | "stop" | "length" | undefined;
}

const SAMPLING = ["maxTokens", "topK", "topP", "minP", "repetitionPenalty", "seed", "eos"];
const WATCHING = ["attentions", "hiddenStates", "hooks", "adapter"];
const OTHERS = ["temperature", "stop", "signal", "cache", "onPrompt", "template"];

/** Tokens of a prompt that are computed at a time. */
const CHUNK = 256;

export async function* generate(
  where: string,
  parts: ModelParts,
  input: unknown,
  options: unknown,
): AsyncGenerator<Piece, void, undefined> {
  const given = readRecord(where, "options", options, [...SAMPLING, ...WATCHING, ...OTHERS]);
  if (!parts.family.isCausal) {
    throw new HeedError(
      "unsupported",
      `${where}: a model must give logits of the next token, got ${showValue(parts.config.model_type)}`,
    );
  }
  const sampling = readSampleOptions(where, { temperature: 0, ...pick(given, [...SAMPLING, "temperature"]) });
  const ends = given["eos"] === undefined ? parts.special.ends : sampling.eos;
  const stops = new StopStrings(readStops(where, given["stop"]));
  const signal = readSignal(where, given["signal"]);
  const prompt = await promptOf(where, parts, input, given["template"]);
  const limit = parts.positions ?? Infinity;
  if (prompt.length >= limit) {
    throw new HeedError(
      "option",
      `${where}: a prompt must be shorter than ${limit} tokens, the model's positions, got ${prompt.length}`,
    );
  }
  const text = await Continuation.begin(where, parts, prompt, { given, signal, maxTokens: sampling.maxTokens });
  try {
    const stream = tokenStream(parts.tokenizer === null ? null : readCodec(where, parts.tokenizer));
    const random = new SeededRandom(sampling.seed);
    const seen = new Set(prompt);
    let end: Piece["end"] = "length";
    for (let count = 0; count < sampling.maxTokens && text.length <= Math.min(limit, text.room); count++) {
      const { logits, ...watched } = await text.next();
      const id = draw(logits, seen, sampling, random);
      if (id === undefined)
        throw new HeedError("option", `${where}: some token must be possible, got -Infinity for all`);
      if (ends.has(id)) {
        end = "eos";
        break;
      }
      seen.add(id);
      text.push(id);
      yield { text: stops.push(stream.push(id)), tokens: [id], ...watched, end: undefined };
      if (stops.isFound) {
        end = "stop";
        break;
      }
    }
    const rest = stops.isFound ? "" : stops.push(stream.flush()) + stops.flush();
    yield { text: rest, tokens: [], attentions: undefined, hiddenStates: undefined, end: stops.isFound ? "stop" : end };
  } finally {
    text.close();
  }
}

const pick = (given: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));

function readStops(where: string, value: unknown): readonly string[] {
  const list =
    typeof value === "string" ? [value] : listOf<string>(value ?? [], 1024, (stop) => typeof stop === "string");
  if (list !== null && !list.includes("")) return list;
  throw new HeedError("option", `${where}: stop must be strings that are not empty, got ${showValue(value)}`);
}

async function promptOf(where: string, parts: ModelParts, input: unknown, variables: unknown): Promise<number[]> {
  const tokens = await tokensOf(where, parts, input, variables);
  if (tokens.length > 0) return tokens;
  throw new HeedError("option", `${where}: a prompt must have at least one token, got none`);
}

async function tokensOf(where: string, parts: ModelParts, input: unknown, variables: unknown): Promise<number[]> {
  if (typeof input === "string") {
    return encoded(where, readCodec(where, parts.tokenizer), input, { addSpecialTokens: true }).ids;
  }
  if (isMessages(input)) {
    const codec = readCodec(where, parts.tokenizer);
    const { chatTemplate: template, special, jinja } = parts;
    const text = await renderChat(where, { template, special, jinja, variables }, input);
    return encoded(where, codec, text, { addSpecialTokens: false }).ids;
  }
  if (numbersOf(input) !== null) return readIds(where, "the prompt", input);
  throw new HeedError("option", `${where}: a prompt must be messages, a text or tokens, got ${showValue(input)}`);
}

interface Step {
  readonly logits: Float32Array;
  readonly attentions: readonly ArrayTensor[] | undefined;
  readonly hiddenStates: readonly ArrayTensor[] | undefined;
}

interface Beginning {
  readonly given: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | null;
  readonly maxTokens: number;
}

/** A text that grows, and what of it was computed. */
class Continuation {
  readonly #where: string;
  readonly #parts: ModelParts;
  readonly #tokens: number[];
  readonly #cache: ModelCache | null;
  readonly #beginning: Beginning;
  readonly #isOwn: boolean;
  /** How many tokens the cache holds. */
  #computed = 0;

  static async begin(where: string, parts: ModelParts, prompt: number[], beginning: Beginning): Promise<Continuation> {
    const { given, maxTokens } = beginning;
    const { cache, hooks, adapter } = given;
    // Such a function needs the values of all tokens.
    if (Object.values(hooks ?? {}).some((hook) => typeof hook?.weights === "function")) {
      return new Continuation(where, parts, prompt, null, beginning, false);
    }
    if (cache !== undefined && !(cache instanceof ModelCache)) {
      throw new HeedError(
        "option",
        `${where}: cache must be made by createCache of the model, got ${showValue(cache)}`,
      );
    }
    const size = Math.min(prompt.length + maxTokens, parts.positions ?? Infinity);
    const used = cache ?? (await createModelCache(where, parts.model, size, {}));
    if (prompt.length > used.maxLength) {
      throw new HeedError(
        "option",
        `${where}: cache must hold the prompt, ${prompt.length} tokens, got maxLength ${used.maxLength}`,
      );
    }
    const text = new Continuation(where, parts, prompt, used, beginning, cache === undefined);
    text.#computed = await used.begin(where, prompt, { hooks, adapter });
    return text;
  }

  private constructor(
    where: string,
    parts: ModelParts,
    tokens: readonly number[],
    cache: ModelCache | null,
    beginning: Beginning,
    isOwn: boolean,
  ) {
    this.#where = where;
    this.#parts = parts;
    this.#tokens = [...tokens];
    this.#cache = cache;
    this.#beginning = beginning;
    this.#isOwn = isOwn;
  }

  get length(): number {
    return this.#tokens.length;
  }

  /** The most tokens that can be computed. */
  get room(): number {
    return this.#cache?.maxLength ?? Infinity;
  }

  push(token: number): void {
    this.#tokens.push(token);
  }

  /** The logits of the next token, and what was looked at on the way. */
  async next(): Promise<Step> {
    const { given } = this.#beginning;
    const { attentions, hiddenStates, ...changes } = pick(given, WATCHING);
    const isWatched = (attentions ?? false) !== false || (hiddenStates ?? false) !== false;
    // What is looked at is that of the last token.
    const last = isWatched && this.#cache !== null ? this.length - 1 : this.length;
    const total = this.length;
    while (this.#computed < last) {
      const from = this.#cache === null ? 0 : this.#computed;
      const to = this.#cache === null ? last : Math.min(from + CHUNK, last);
      const step = await this.#forward(from, to, to < total ? changes : { ...changes, attentions, hiddenStates });
      this.#report(to, total);
      if (to === total) return step;
    }
    return this.#forward(this.length - 1, this.length, { ...changes, attentions, hiddenStates });
  }

  #report(loaded: number, total: number): void {
    const { onPrompt } = this.#beginning.given;
    if (typeof onPrompt === "function" && this.#isPrompt) Reflect.apply(onPrompt, undefined, [{ loaded, total }]);
    if (loaded === total) this.#isPrompt = false;
  }

  #isPrompt = true;

  async #forward(from: number, to: number, options: Readonly<Record<string, unknown>>): Promise<Step> {
    const { signal } = this.#beginning;
    const tokens = this.#tokens.slice(from, to);
    const cache = this.#cache;
    const caches = cache === null ? {} : { caches: cache.caches };
    const made = await this.#parts.model.forward(tokens, {
      ...options,
      ...caches,
      last: true,
      ...(signal && { signal }),
    });
    cache?.took(tokens);
    this.#computed = cache === null ? 0 : to;
    const logits = await askForLogits(this.#where, null, 1, () => made.logits?.data);
    return { logits, attentions: made.attentions, hiddenStates: made.hiddenStates };
  }

  close(): void {
    this.#cache?.end();
    if (this.#isOwn) this.#cache?.dispose();
  }
}
