// BERT: token, position and segment embeddings, a post-norm encoder, and a pooler on the first token.

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
import { LayerNorm } from "../norm.js";
import type { Filling, GivenParameters } from "../parameters.js";
import { Pooling } from "../pooling.js";
import type { Scope } from "../scope.js";
import { Encoder, handOutStack, handOutStates, type StackMade } from "../stacks.js";
import { maskOf, noteMask, type TokenMask } from "../token-mask.js";
import { type NoWatchOptions, WATCH_OPTIONS, type WatchOptions, wantsAttentions } from "../watch.js";
import { ConfigReader, type ModelConfig, type ModelOptions, readEngine } from "./config.js";
import { MaskedWordHead, takeHead } from "./masked-word-head.js";
import { BERT_NAMES } from "./names.js";
import { checkPositions } from "./positions.js";
import { PublishedParameters } from "./published.js";
import { readTokens, type TokenInput } from "./tokens.js";

export interface BertForwardOptions extends ForwardOptions, WatchOptions {
  /** The segment of each token, in the form of the tokens. Default 0. */
  readonly tokenTypes?: TokenInput | undefined;
  /** [B, L], 1 for tokens, 0 for padding. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Returns logits of the head for masked words, which the parameters must have. Default false. */
  readonly logits?: boolean | undefined;
}

export interface BertResult<O> {
  /** [B, L, hidden_size]. What is there for padding means nothing; Pooling leaves it out. */
  readonly hidden: Returned<O>;
  /** [B, L], 1 for tokens, 0 for padding. Undefined where there was no mask, and no padding. */
  readonly mask: Uint8Array | undefined;
  /** tanh of a projection of the first token, [B, hidden_size], where the parameters have a pooler. */
  readonly pooled: Returned<O> | undefined;
  /** [B, L, vocab_size], where they were asked for. */
  readonly logits: Returned<O> | undefined;
  /** [B, H, L, L] of every layer, or of those that were asked for. */
  readonly attentions: readonly Returned<O>[] | undefined;
  /** Where they were asked for: what goes into each layer, and the last one's result, [B, L, hidden_size] each. */
  readonly hiddenStates: readonly Returned<O>[] | undefined;
}

const COMPUTED = {
  position_embedding_type: ["absolute"],
  is_decoder: [false],
  add_cross_attention: [false],
};

const ACTIVATIONS = {
  gelu: "gelu",
  gelu_new: "gelu-tanh",
  gelu_pytorch_tanh: "gelu-tanh",
  relu: "relu",
  silu: "silu",
} as const;

/** BERT, from its config.json and its published parameters, whose names may begin with `bert.`. */
export class BertModel extends Layer {
  readonly #words: Embedding;
  readonly #positions: Embedding;
  readonly #types: Embedding;
  readonly #norm: LayerNorm;
  readonly #encoder: Encoder;
  readonly #pooler: Linear;
  readonly #head: MaskedWordHead;
  readonly #first: Pooling;
  readonly #layers: number;

  constructor(config: ModelConfig, options?: ModelOptions) {
    const where = "BertModel";
    const engine = readEngine(where, options);
    const read = new ConfigReader(where, config).ofType("bert").only(COMPUTED);
    super(where, engine);
    const dim = read.count("hidden_size");
    const count = read.count("vocab_size");
    const epsilon = read.number("layer_norm_eps", 1e-12);
    const activation = read.choice("hidden_act", ACTIVATIONS, "gelu");
    this.#layers = read.layers("num_hidden_layers");
    this.#words = this.part("words", new Embedding({ count, dim, engine }));
    this.#positions = this.part(
      "positions",
      new Embedding({ count: read.count("max_position_embeddings"), dim, engine }),
    );
    this.#types = this.part("types", new Embedding({ count: read.count("type_vocab_size", 2), dim, engine }));
    this.#norm = this.part("norm", new LayerNorm({ shape: dim, epsilon, engine }));
    this.#encoder = this.part(
      "encoder",
      new Encoder({
        layers: this.#layers,
        dim,
        heads: read.count("num_attention_heads"),
        hidden: read.count("intermediate_size"),
        activation,
        normFirst: false,
        epsilon,
        engine,
      }),
    );
    this.#pooler = this.part("pooler", new Linear({ inFeatures: dim, outFeatures: dim, engine }));
    this.#head = this.part("head", new MaskedWordHead({ dim, count, epsilon, activation, engine }));
    this.#first = new Pooling({ kind: "cls", engine });
  }

  protected override draw(draw: Draw): void {
    this.drawBy(transformerRule(draw, 0.02));
    this.tie("head.decoder.weight", "words.weight");
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    return this.tying(this.#filled(parameters, prefix), "head.decoder.weight", "words.weight");
  }

  #filled(parameters: GivenParameters, prefix: string): Filling {
    if (parameters.has(`${prefix}words.weight`)) return super.fill(parameters, prefix);
    const made = new PublishedParameters(this.where, parameters, prefix, this.names(), BERT_NAMES);
    const { start } = made.takeAll(BERT_NAMES, this.#layers);
    const hasPooler = made.has(`${start}pooler.dense.weight`);
    if (hasPooler) made.take("pooler", `${start}pooler.dense`);
    const hasHead = takeHead(made, "head", `${prefix}cls.predictions`, start + BERT_NAMES.parts.words);
    const missing = [...(hasPooler ? [] : ["pooler"]), ...(hasHead ? [] : ["head"])];
    return super.fill(made.all(), "", missing);
  }

  /** Token ids of one text, or a list of those of several, which are padded where they end. */
  forward<const O extends BertForwardOptions = NoWatchOptions>(tokens: TokenInput, options?: O): Promise<BertResult<O>>;
  forward(tokens: unknown, options?: unknown): Promise<BertResult<{ readonly keep: boolean }>> {
    return this.pass(options, [...WATCH_OPTIONS, "tokenTypes", "mask", "logits"], async (scope, given, keep) => {
      const wanted = wantsAttentions(this.where, given["attentions"]);
      const wantsLogits = readBoolean(this.where, "logits", given["logits"], false);
      const { indices, padding } = readTokens(this.where, "tokens", tokens);
      const [batch = 0, length = 0] = indices.shape;
      const mask = maskOf(this.where, { mask: given["mask"], padding, batch, length });
      const types =
        given["tokenTypes"] === undefined ? null : readTokens(this.where, "tokenTypes", given["tokenTypes"]);
      if (types?.padding?.data.some((counts, at) => counts !== (padding?.data[at] ?? 1))) {
        throw new HeedError(
          "shape",
          `${this.where}: tokenTypes must be as many as tokens in each text, got other lengths`,
        );
      }
      const { output, attentions } = await this.#encode(scope, indices, types?.indices ?? null, mask, wanted);
      const hasPooler = Layer.isLoaded(this.#pooler);
      const pooled = hasPooler ? await this.#pool(scope, output) : undefined;
      const logits = wantsLogits ? await this.#logitsOf(scope, output) : undefined;
      const hiddenStates = await handOutStates(scope, keep);
      const handed = await handOutStack(scope, { output, attentions }, keep);
      noteMask(handed.output, mask);
      return {
        hidden: handed.output,
        mask: mask?.data.slice(),
        pooled: pooled && (await handOut(scope, pooled, keep)),
        logits: logits && (await handOut(scope, logits, keep)),
        attentions: handed.attentions?.map(({ self }) => self),
        hiddenStates,
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
    mask: TokenMask | null,
    attentions: boolean,
  ): Promise<StackMade> {
    const { where } = this;
    const [batch = 0, length = 0] = tokens.shape;
    const x = await scope.one(async (inner) => {
      const segments = types ?? { data: new Int32Array(batch * length), shape: tokens.shape };
      if (segments.data.length !== batch * length) {
        throw new HeedError("shape", `${where}: tokenTypes must be as many as tokens, got ${segments.data.length}`);
      }
      const numbered = { data: Int32Array.from({ length }, (_, at) => at), shape: [length] };
      checkPositions(where, numbered, this.#positions.count);
      const positions = await this.#positions.compute(inner, numbered);
      const words = await this.#words.compute(inner, tokens, { where, name: "tokens" });
      const both = await pointwise(inner, words, {
        addend: await this.#types.compute(inner, segments, { where, name: "tokenTypes" }),
      });
      return this.#norm.compute(inner, await pointwise(inner, both, { addend: positions }));
    });
    const self = mask === null ? {} : { mask };
    return this.#encoder.compute(scope, { x, memory: null, self, cross: {}, attentions });
  }

  #logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor> {
    if (Layer.isLoaded(this.#head)) return this.#head.compute(scope, hidden);
    throw new HeedError(
      "option",
      `${this.where}: for logits the parameters must have a head, cls.predictions, got none`,
    );
  }

  async #pool(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return scope.one(async (inner) => {
      return this.#pooler.compute(inner, await this.#first.compute(inner, hidden), { activation: "tanh" });
    });
  }
}
