// Causal models of token embeddings, a decoder with rotary embedding, and a head: what families are differs in options of the decoder.

import type { Tensor } from "../../api/tensor.js";
import { pointwise } from "../affine.js";
import { type Draw, same, transformerRule } from "../draw.js";
import { Embedding } from "../embedding.js";
import type { Linear } from "../linear.js";
import type { GivenAttention } from "../multi-head-attention.js";
import type { Scope } from "../scope.js";
import { Decoder, type StackMade, type StackOptions } from "../stacks.js";
import { type CausalInputs, CausalModel } from "./causal.js";
import { ConfigReader, type ModelConfig, type ModelOptions, readEngine } from "./config.js";
import type { ModelFamily } from "./family.js";
import { readLabels } from "./labels.js";
import type { PublishedNames } from "./names.js";

/** @internal */
export type DecoderFamily = ModelFamily<PublishedNames, DecoderShape>;

/** @internal What a configuration says of a model. */
export interface DecoderShape {
  readonly stack: Omit<StackOptions, "engine">;
  /** The number of words. */
  readonly count: number;
  readonly isTied: boolean;
  /** Options of every attention. */
  readonly self?: GivenAttention;
  /** Multiplies the rows of the embedding. */
  readonly embeddingScale?: number;
  /** With c, logits are c tanh(x / c). */
  readonly logitSoftcap?: number;
}

export class DecoderModel extends CausalModel {
  protected readonly layers: number;
  readonly #words: Embedding;
  readonly #decoder: Decoder;
  readonly #head: Linear;
  readonly #shape: DecoderShape;

  /** @internal */
  constructor({ where, types, names, read }: DecoderFamily, config: ModelConfig, options?: ModelOptions) {
    const engine = readEngine(where, options);
    const reader = new ConfigReader(where, config).ofType(...types);
    const shape = read(reader);
    super(where, engine, names, { labels: readLabels(reader), isTied: shape.isTied });
    const { stack, count } = shape;
    this.#shape = shape;
    this.layers = stack.layers;
    this.#words = this.part("words", new Embedding({ count, dim: stack.dim, engine }));
    this.#decoder = this.part("decoder", new Decoder({ ...stack, engine }));
    this.#head = this.headOf(stack.dim, count, engine);
  }

  protected override draw(draw: Draw): void {
    this.drawBy(transformerRule(draw, 0.02));
    this.tieHead();
  }

  protected async decode(
    scope: Scope,
    { tokens, self, caches, attentions, packing }: CausalInputs,
  ): Promise<StackMade> {
    const x = await scope.one(async (inner) => {
      const words = await this.#words.compute(inner, tokens, { where: this.where, name: "tokens" });
      return scaled(inner, words, this.#shape.embeddingScale);
    });
    const inputs = { x, memory: null, self: { ...this.#shape.self, ...self }, cross: {}, attentions, packing };
    return this.#decoder.compute(scope, inputs, caches);
  }

  protected logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor> {
    const { logitSoftcap: cap } = this.#shape;
    if (cap === undefined) return this.#head.compute(scope, hidden);
    return scope.one(async (inner) => {
      const logits = await this.#head.compute(inner, await scaled(inner, hidden, 1 / cap));
      return scaled(inner, await pointwise(inner, logits, { activation: "tanh" }), cap);
    });
  }
}

/** x times a number. */
export async function scaled(scope: Scope, x: Tensor, factor: number | undefined): Promise<Tensor> {
  if (factor === undefined) return x;
  const row = x.shape.slice(-1);
  return pointwise(scope, x, { factor: scope.upload(same(row, factor), row) });
}
