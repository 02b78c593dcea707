// GPT-2: token and position embeddings, a pre-norm decoder, and logits by the token embeddings.

import type { Tensor } from "../../api/tensor.js";
import { pointwise } from "../affine.js";
import { type Draw, transformerRule } from "../draw.js";
import { Embedding } from "../embedding.js";
import type { Linear } from "../linear.js";
import type { Scope } from "../scope.js";
import { Decoder, type StackMade } from "../stacks.js";
import { ACTIVATIONS } from "./activations.js";
import { type CausalInputs, CausalModel } from "./causal.js";
import { ConfigReader, type ModelConfig, type ModelOptions, readEngine } from "./config.js";
import { readLabels } from "./labels.js";
import { GPT2_NAMES } from "./names.js";
import { checkPositions } from "./positions.js";

const COMPUTED = {
  scale_attn_weights: [true],
  scale_attn_by_inverse_layer_idx: [false],
  add_cross_attention: [false],
};

/** GPT-2, from its config.json and its published parameters, whose names may begin with `transformer.`. */
export class GPT2Model extends CausalModel {
  protected readonly layers: number;
  readonly #words: Embedding;
  readonly #positions: Embedding;
  readonly #decoder: Decoder;
  readonly #head: Linear;
  readonly #dropout: number;

  constructor(config: ModelConfig, options?: ModelOptions) {
    const where = "GPT2Model";
    const engine = readEngine(where, options);
    const read = new ConfigReader(where, config).ofType("gpt2").only(COMPUTED);
    super(where, engine, GPT2_NAMES, { labels: readLabels(read, ["texts"]), isTied: true });
    this.#dropout = read.share("embd_pdrop");
    const dim = read.count("n_embd");
    const count = read.count("vocab_size");
    this.layers = read.layers("n_layer");
    this.#words = this.part("words", new Embedding({ count, dim, engine }));
    this.#positions = this.part("positions", new Embedding({ count: read.count("n_positions"), dim, engine }));
    this.#decoder = this.part(
      "decoder",
      new Decoder({
        layers: this.layers,
        dim,
        heads: read.count("n_head"),
        hidden: read.count("n_inner", 4 * dim),
        activation: read.choice("activation_function", ACTIVATIONS, "gelu_new"),
        epsilon: read.number("layer_norm_epsilon", 1e-5),
        dropout: read.share("resid_pdrop"),
        attentionDropout: read.share("attn_pdrop"),
        engine,
      }),
    );
    this.#head = this.headOf(dim, count, engine);
  }

  /** As published: the ends of residual connections the smaller, the more layers there are. */
  protected override draw(draw: Draw): void {
    this.drawBy(transformerRule(draw, 0.02, 0.02 / Math.sqrt(2 * this.layers)));
    this.tieHead();
  }

  protected async decode(
    scope: Scope,
    { tokens, positions, self, caches, attentions, packing }: CausalInputs,
  ): Promise<StackMade> {
    const { where } = this;
    const x = await scope.one(async (inner) => {
      checkPositions(where, positions, this.#positions.count);
      const addend = await this.#positions.compute(inner, positions);
      const words = await this.#words.compute(inner, tokens, { where, name: "tokens" });
      return inner.dropout(await pointwise(inner, words, { addend }), this.#dropout);
    });
    return this.#decoder.compute(scope, { x, memory: null, self, cross: {}, attentions, packing }, caches);
  }

  protected logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return this.#head.compute(scope, hidden);
  }
}
