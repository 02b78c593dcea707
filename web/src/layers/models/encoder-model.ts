// Encoders of text: embeddings, a stack in which every token sees all others, and heads. What families are differs in their shapes.

import type { Heed } from "../../api/heed.js";
import type { Returned } from "../../api/results.js";
import type { Tensor } from "../../api/tensor.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean } from "../../base/read-values.js";
import { pointwise } from "../affine.js";
import { type Draw, transformerRule } from "../draw.js";
import { Embedding, type Indices } from "../embedding.js";
import { handOut } from "../hand-out.js";
import { type ForwardOptions, Layer } from "../layer.js";
import { Linear } from "../linear.js";
import type { GivenAttention } from "../multi-head-attention.js";
import { LayerNorm } from "../norm.js";
import { Packing } from "../packing.js";
import { Pooling } from "../pooling.js";
import type { Filling, GivenParameters } from "../read-parameters.js";
import type { Scope } from "../scope.js";
import { Encoder, handOutScores, handOutStack, handOutStates, type StackMade, type StackOptions } from "../stacks.js";
import { maskOf, noteMask, type TokenMask } from "../token-mask.js";
import { type NoWatchOptions, WATCH_OPTIONS, type WatchOptions, wantsAttentions } from "../watch.js";
import { ConfigReader, type ModelConfig, type ModelOptions, readEngine } from "./config.js";
import { scaled } from "./decoder-model.js";
import type { ModelFamily } from "./family.js";
import { Head, type HeadOptions, type HeadTransform } from "./head.js";
import { type Labels, readLabels } from "./labels.js";
import type { EncoderNames } from "./names.js";
import { checkPositions } from "./positions.js";
import { PublishedParameters } from "./published.js";
import { readTokens, type TokenInput } from "./tokens.js";

/** The options of a call of a model of BERT's family. */
export interface EncoderForwardOptions extends ForwardOptions, WatchOptions {
  /** The segment of each token, in the form of the tokens. Default 0. */
  readonly tokenTypes?: TokenInput | undefined;
  /** [B, L], 1 for tokens, 0 for padding. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Where packed texts begin and the last ends, [0, ..., T], of tokens [1, T] without padding. */
  readonly cuSeqlens?: ArrayLike<number> | undefined;
  /** Returns logits of the head for masked words or for classes, which the parameters must have. Default false. */
  readonly logits?: boolean | undefined;
}

/** What a model of BERT's family gives. */
export interface EncoderResult<O> {
  /** [B, L, hidden_size]. What is there for padding means nothing; Pooling leaves it out. */
  readonly hidden: Returned<O>;
  /** [B, L], 1 for tokens, 0 for padding. Undefined where there was no mask, and no padding. */
  readonly mask: Uint8Array | undefined;
  /** tanh of a projection of the first token, [B, hidden_size], where the parameters have a pooler. */
  readonly pooled: Returned<O> | undefined;
  /** [B, L, vocab_size], where they were asked for. A classifier of texts has [B, labels], one of tokens [B, L, labels]. */
  readonly logits: Returned<O> | undefined;
  /** [B, H, L, L] of every layer, or of those that were asked for. */
  readonly attentions: readonly Returned<O>[] | undefined;
  /** Where they were asked for: what goes into each layer, and the last one's result, [B, L, hidden_size] each. */
  readonly hiddenStates: readonly Returned<O>[] | undefined;
  /** Likewise, of the layers, heads and rows of `attentions`. */
  readonly scores: readonly Returned<O>[] | undefined;
}

/** @internal */
export type EncoderFamily = ModelFamily<EncoderNames, EncoderShape>;

/** @internal What a configuration says of a model. */
export interface EncoderShape {
  readonly stack: Omit<StackOptions, "engine">;
  /** The number of words. */
  readonly count: number;
  /** A learned vector for each position, from `first` on. Tokens of the word `pad`, if there is one, are not counted. */
  readonly positions?: { readonly count: number; readonly first: number; readonly pad: number | null };
  /** The number of segments. */
  readonly segments?: number;
  /** The norm of the embeddings. */
  readonly norm?: { readonly epsilon: number; readonly bias?: boolean };
  /** Multiplies the rows of the words' embedding. */
  readonly embeddingScale?: number;
  /** Shares of numbers that `gradients` drops: of the embeddings, and in classifiers, as their head has them. */
  readonly dropout?: {
    readonly embeddings: number;
    readonly texts: HeadOptions["dropout"];
    readonly tokens: HeadOptions["dropout"];
  };
  /** Options of every attention. */
  readonly self?: GivenAttention;
  readonly hasPooler: boolean;
  /** The head for masked words. */
  readonly words?: HeadTransform & { readonly hasBias?: boolean };
  readonly classes?: {
    /** What texts are classified by. */
    readonly from: "pooler" | "cls" | "mean";
    readonly ofTexts: HeadTransform | null;
    readonly ofTokens: HeadTransform | null;
  };
}

const OPTIONS = [...WATCH_OPTIONS, "tokenTypes", "mask", "logits", "cuSeqlens"];

export class EncoderModel extends Layer {
  readonly #names: EncoderNames;
  readonly #shape: EncoderShape;
  readonly #labels: Labels | null;
  readonly #words: Embedding;
  readonly #positions: Embedding | null;
  readonly #types: Embedding | null;
  readonly #norm: LayerNorm | null;
  readonly #encoder: Encoder;
  readonly #pooler: Linear | null;
  readonly #head: Head | null;
  readonly #first: Pooling;
  readonly #pooling: Pooling;

  /** @internal */
  constructor({ where, types, names, read }: EncoderFamily, config: ModelConfig, options?: ModelOptions) {
    const engine = readEngine(where, options);
    const reader = new ConfigReader(where, config).ofType(...types);
    const shape = read(reader);
    super(where, engine);
    const { stack, count, positions, segments, norm, hasPooler, classes } = shape;
    const { dim } = stack;
    const table = (rows: number): Embedding => new Embedding({ count: rows, dim, engine });
    this.#names = names;
    this.#shape = shape;
    this.#labels = readLabels(reader);
    if (this.#labels !== null && classes === undefined)
      throw reader.unsupported("architectures", "not be a classifier");
    this.#words = this.part("words", table(count));
    this.#positions = positions === undefined ? null : this.part("positions", table(positions.count));
    this.#types = segments === undefined ? null : this.part("types", table(segments));
    this.#norm = norm === undefined ? null : this.part("norm", new LayerNorm({ shape: dim, ...norm, engine }));
    this.#encoder = this.part("encoder", new Encoder({ ...stack, engine }));
    this.#pooler = hasPooler ? this.part("pooler", new Linear({ inFeatures: dim, outFeatures: dim, engine })) : null;
    this.#head = this.#headOf(engine);
    this.#first = new Pooling({ kind: "cls", engine });
    this.#pooling = new Pooling({ kind: classes?.from === "mean" ? "mean" : "cls", engine });
  }

  /** For labels where the configuration says so, else for masked words. */
  #headOf(engine: Heed | undefined): Head | null {
    const { where } = this;
    const { words, classes, count: ofWords, stack } = this.#shape;
    const { dim } = stack;
    const labels = this.#labels;
    if (labels !== null) {
      const transform = (labels.of === "texts" ? classes?.ofTexts : classes?.ofTokens) ?? null;
      return this.part(
        "classifier",
        new Head(where, { dim, count: labels.count, transform, dropout: this.#shape.dropout?.[labels.of], engine }),
      );
    }
    if (words === undefined) return null;
    const { hasBias = true, ...transform } = words;
    return this.part("head", new Head(where, { dim, count: ofWords, bias: hasBias, transform, engine }));
  }

  get #hasWordsHead(): boolean {
    return this.#head !== null && this.#labels === null;
  }

  protected override draw(draw: Draw): void {
    this.drawBy(transformerRule(draw, 0.02));
    if (this.#hasWordsHead) this.tie("head.decoder.weight", "words.weight");
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    const filling = this.#filled(parameters, prefix);
    return this.#hasWordsHead ? this.tying(filling, "head.decoder.weight", "words.weight") : filling;
  }

  protected override ties(): readonly (readonly [string, string])[] {
    return this.#hasWordsHead ? [["head.decoder.weight", "words.weight"]] : [];
  }

  #filled(parameters: GivenParameters, prefix: string): Filling {
    if (parameters.has(`${prefix}words.weight`)) {
      const names = [...parameters.keys()];
      const isThere = (part: string): boolean => names.some((name) => name.startsWith(`${prefix}${part}.`));
      return super.fill(
        parameters,
        prefix,
        ["pooler", "head"].filter((part) => !isThere(part)),
      );
    }
    const names = this.#names;
    const made = new PublishedParameters(this.where, parameters, prefix, this.names(), names);
    const { start } = made.takeAll(names, this.#encoder.layers);
    const missing = [];
    if (this.#pooler !== null) {
      const hasPooler = made.has(`${start}${names.pooler}.weight`);
      if (hasPooler) made.take("pooler", `${start}${names.pooler}`);
      else missing.push("pooler");
    }
    if (this.#labels !== null) {
      const { dense, norm, decoder } = this.#labels.of === "texts" ? names.ofTexts : names.ofTokens;
      if (dense !== undefined) made.take("classifier.dense", prefix + dense);
      if (norm !== undefined) made.take("classifier.norm", prefix + norm);
      made.take("classifier.decoder", prefix + decoder);
    } else if (this.#head !== null && !this.#takeWords(made, prefix)) missing.push("head");
    return super.fill(made.all(), "", missing);
  }

  /** Takes the head for masked words and returns whether a file has it. Some old files have the decoder's matrix, which is that of the words, and its bias twice. */
  #takeWords(made: PublishedParameters, prefix: string): boolean {
    const { dense, norm, decoder, bias = decoder } = this.#names.masked ?? { dense: "", norm: "", decoder: "" };
    const own = prefix + decoder;
    const biases = [`${own}.bias`, `${prefix}${bias}.bias`].filter((name) => made.has(name));
    const needsBias = this.names().has("head.decoder.bias");
    if (!made.has(`${prefix}${dense}.weight`) || (needsBias && biases.length === 0)) return false;
    made.take("head.dense", prefix + dense);
    made.take("head.norm", prefix + norm);
    if (needsBias) for (const name of biases) made.map.set("head.decoder.bias", made.get(name));
    const words = made.start + this.#names.parts.words;
    made.map.set("head.decoder.weight", made.get(`${made.has(`${own}.weight`) ? own : words}.weight`));
    return true;
  }

  /** Token ids of one text, or a list of those of several, which are padded where they end. */
  forward<const O extends EncoderForwardOptions = NoWatchOptions>(
    tokens: TokenInput,
    options?: O,
  ): Promise<EncoderResult<O>>;
  forward(tokens: unknown, options?: unknown): Promise<EncoderResult<{ readonly keep: boolean }>> {
    return this.pass(options, OPTIONS, async (scope, given, keep) => {
      const wanted = wantsAttentions(this.where, given["attentions"]);
      const wantsLogits = readBoolean(this.where, "logits", given["logits"], false);
      const { indices, padding } = readTokens(this.where, "tokens", tokens);
      const [batch = 0, length = 0] = indices.shape;
      const mask = maskOf(this.where, { mask: given["mask"], padding, batch, length });
      const packing = Packing.read(this.where, given["cuSeqlens"], [batch, length]);
      if (packing !== null) checkPacked(this.where, given, wantsLogits);
      const types =
        given["tokenTypes"] === undefined ? null : readTokens(this.where, "tokenTypes", given["tokenTypes"]);
      if (types !== null && this.#types === null) {
        throw new HeedError("option", `${this.where}: tokenTypes are for models with segments, which this has not`);
      }
      if (types?.padding?.data.some((counts, at) => counts !== (padding?.data[at] ?? 1))) {
        throw new HeedError(
          "shape",
          `${this.where}: tokenTypes must be as many as tokens in each text, got other lengths`,
        );
      }
      const { output, attentions } = await this.#encode(scope, indices, types?.indices ?? null, {
        mask,
        packing,
        attentions: wanted,
      });
      const pooled = await this.#pool(scope, output, packing);
      const logits = wantsLogits ? await this.#logitsOf(scope, output, pooled, mask) : undefined;
      const hiddenStates = await handOutStates(scope, keep);
      const scores = await handOutScores(scope, keep);
      const handed = await handOutStack(scope, { output, attentions }, keep);
      noteMask(handed.output, mask);
      return {
        hidden: handed.output,
        mask: mask?.data.slice(),
        pooled: pooled && (await handOut(scope, pooled, keep)),
        logits: logits && (await handOut(scope, logits, keep)),
        attentions: handed.attentions?.map(({ self }) => self),
        hiddenStates,
        scores,
      };
    });
  }

  /** Frees its parameters, in JavaScript as well, once the passes under way have ended. To use the model again, load it anew. */
  override dispose(): void {
    this.unload();
  }

  async #encode(
    scope: Scope,
    tokens: Indices,
    types: Indices | null,
    { mask, packing, attentions }: Encoding,
  ): Promise<StackMade> {
    const { where } = this;
    const x = await scope.one(async (inner) => {
      const words = await this.#words.compute(inner, tokens, { where, name: "tokens" });
      const typed = await this.#withTypes(inner, await scaled(inner, words, this.#shape.embeddingScale), tokens, types);
      const placed = await this.#withPositions(inner, typed, tokens, packing);
      const even = this.#norm === null ? placed : await this.#norm.compute(inner, placed);
      return inner.dropout(even, this.#shape.dropout?.embeddings ?? 0);
    });
    const self = { ...this.#shape.self, ...(mask === null ? {} : { mask }), ...packing?.options };
    return this.#encoder.compute(scope, { x, memory: null, self, cross: {}, attentions, packing });
  }

  async #withTypes(scope: Scope, x: Tensor, tokens: Indices, types: Indices | null): Promise<Tensor> {
    if (this.#types === null) return x;
    const { where } = this;
    const { length } = tokens.data;
    const segments = types ?? { data: new Int32Array(length), shape: tokens.shape };
    if (segments.data.length !== length) {
      throw new HeedError("shape", `${where}: tokenTypes must be as many as tokens, got ${segments.data.length}`);
    }
    return pointwise(scope, x, { addend: await this.#types.compute(scope, segments, { where, name: "tokenTypes" }) });
  }

  async #withPositions(scope: Scope, x: Tensor, tokens: Indices, packing: Packing | null): Promise<Tensor> {
    const { positions: rule } = this.#shape;
    if (this.#positions === null || rule === undefined) return x;
    const positions = positionsOf(tokens, rule, packing);
    checkPositions(this.where, positions, rule.count, rule.first);
    return pointwise(scope, x, { addend: await this.#positions.compute(scope, positions) });
  }

  #logitsOf(scope: Scope, hidden: Tensor, pooled: Tensor | undefined, mask: TokenMask | null): Promise<Tensor> {
    const head = this.#head;
    if (head === null || !Layer.isLoaded(head)) {
      const name = this.#names.masked?.bias ?? this.#names.masked?.decoder ?? this.#names.ofTexts.decoder;
      throw new HeedError("option", `${this.where}: for logits the parameters must have a head, ${name}, got none`);
    }
    if (this.#labels?.of !== "texts") return head.compute(scope, hidden);
    return scope.one(async (inner) => head.compute(inner, await this.#textOf(inner, hidden, pooled, mask)));
  }

  /** What texts are classified by. */
  async #textOf(scope: Scope, hidden: Tensor, pooled: Tensor | undefined, mask: TokenMask | null): Promise<Tensor> {
    const from = this.#shape.classes?.from;
    if (from !== "pooler") return this.#pooling.compute(scope, hidden, from === "mean" ? mask?.data : undefined);
    if (pooled !== undefined) return pooled;
    const rule = `to classify texts the parameters must have a pooler, ${this.#names.pooler}`;
    throw new HeedError("option", `${this.where}: ${rule}, got none`);
  }

  async #pool(scope: Scope, hidden: Tensor, packing: Packing | null): Promise<Tensor | undefined> {
    const pooler = this.#pooler;
    if (pooler === null || !Layer.isLoaded(pooler)) return undefined;
    return scope.one(async (inner) => {
      const first = await (packing?.firsts(inner, hidden) ?? this.#first.compute(inner, hidden));
      return pooler.compute(inner, first, { activation: "tanh" });
    });
  }
}

interface Encoding {
  readonly mask: TokenMask | null;
  readonly packing: Packing | null;
  readonly attentions: boolean;
}

/** Packed texts are for their hidden states. */
function checkPacked(where: string, { mask, hooks }: Readonly<Record<string, unknown>>, wantsLogits: boolean): void {
  if (mask === undefined && hooks === undefined && !wantsLogits) return;
  throw new HeedError("option", `${where}: cuSeqlens excludes mask, hooks and logits`);
}

/** Consecutive in each text, or counted without padding, whose own position is the word's number. */
function positionsOf(
  { data, shape }: Indices,
  { first, pad }: { readonly first: number; readonly pad: number | null },
  packing: Packing | null,
): Indices {
  const [batch = 0, length = 0] = shape;
  const starts = packing?.starts ?? Array.from({ length: batch }, (_, entry) => entry * length);
  if (pad === null || !data.includes(pad)) {
    const positions = packing?.positions ?? Int32Array.from({ length }, (_, at) => at);
    return { data: positions.map((position) => first + position), shape: [positions.length] };
  }
  const positions = new Int32Array(data.length);
  for (const [at, start] of starts.entries()) {
    let next = first;
    for (let token = start; token < (starts[at + 1] ?? data.length); token++)
      positions[token] = data[token] === pad ? pad : next++;
  }
  return { data: positions, shape };
}
