// GPT-2: token and position embeddings, a pre-norm decoder, and logits by the token embeddings.

import type { Tensor } from "../../api/tensor.js";
import { pointwise } from "../affine.js";
import { type Draw, transformerRule } from "../draw.js";
import { Embedding } from "../embedding.js";
import { third } from "../import-torch.js";
import { Linear } from "../linear.js";
import { type Filling, type GivenParameters, transposed } from "../parameters.js";
import type { Scope } from "../scope.js";
import { Decoder, type StackMade } from "../stacks.js";
import { type CausalInputs, CausalModel } from "./causal.js";
import { ConfigReader, type ModelConfig, type ModelOptions, readEngine } from "./config.js";
import { checkPositions } from "./positions.js";
import { prefixOf, Renamed } from "./published.js";

const COMPUTED = {
  scale_attn_weights: [true],
  scale_attn_by_inverse_layer_idx: [false],
  add_cross_attention: [false],
};

const ACTIVATIONS = {
  gelu_new: "gelu-tanh",
  gelu_pytorch_tanh: "gelu-tanh",
  gelu: "gelu",
  relu: "relu",
  silu: "silu",
} as const;

/** GPT-2, from its config.json and its published parameters, whose names may begin with `transformer.`. */
export class GPT2Model extends CausalModel {
  protected readonly layers: number;
  readonly #words: Embedding;
  readonly #positions: Embedding;
  readonly #decoder: Decoder;
  readonly #head: Linear;

  constructor(config: ModelConfig, options?: ModelOptions) {
    const where = "GPT2Model";
    const engine = readEngine(where, options);
    const read = new ConfigReader(where, config).ofType("gpt2").only(COMPUTED);
    super(where, engine);
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
        engine,
      }),
    );
    this.#head = this.part("head", new Linear({ inFeatures: dim, outFeatures: count, bias: false, engine }));
  }

  /** As published: the ends of residual connections the smaller, the more layers there are. */
  protected override draw(draw: Draw): void {
    this.drawBy(transformerRule(draw, 0.02, 0.02 / Math.sqrt(2 * this.layers)));
    this.tie("head.weight", "words.weight");
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    return this.tying(this.#filled(parameters, prefix), "head.weight", "words.weight");
  }

  #filled(parameters: GivenParameters, prefix: string): Filling {
    if (parameters.has(`${prefix}words.weight`)) return super.fill(parameters, prefix);
    const start = prefixOf(this.where, parameters, prefix, ["", "transformer."], "wte.weight");
    const made = new Renamed(this.where, parameters, prefix, this.names());
    made.take("words", `${start}wte`);
    made.take("positions", `${start}wpe`);
    for (let layer = 0; layer < this.layers; layer++) {
      const [ours, theirs] = [`decoder.layers.${layer}`, `${start}h.${layer}`];
      made.take(`${ours}.norm1`, `${theirs}.ln_1`);
      const weight = transposed(made.get(`${theirs}.attn.c_attn.weight`));
      const bias = made.get(`${theirs}.attn.c_attn.bias`);
      for (const [at, part] of ["q", "k", "v"].entries()) {
        made.map.set(`${ours}.self_attn.${part}_proj.weight`, third(weight, at));
        made.map.set(`${ours}.self_attn.${part}_proj.bias`, third(bias, at));
      }
      made.take(`${ours}.self_attn.out_proj`, `${theirs}.attn.c_proj`, transposed);
      made.take(`${ours}.norm2`, `${theirs}.ln_2`);
      made.take(`${ours}.mlp.up_proj`, `${theirs}.mlp.c_fc`, transposed);
      made.take(`${ours}.mlp.down_proj`, `${theirs}.mlp.c_proj`, transposed);
    }
    made.take("decoder.norm", `${start}ln_f`);
    const own = `${prefix}lm_head`;
    made.take("head", made.has(`${own}.weight`) ? own : `${start}wte`);
    return super.fill(made.all(), "");
  }

  protected async decode(
    scope: Scope,
    { tokens, positions, self, caches, attentions }: CausalInputs,
  ): Promise<StackMade> {
    const { where } = this;
    const x = await scope.one(async (inner) => {
      checkPositions(where, positions, this.#positions.count);
      const addend = await this.#positions.compute(inner, positions);
      return pointwise(inner, await this.#words.compute(inner, tokens, { where, name: "tokens" }), { addend });
    });
    return this.#decoder.compute(scope, { x, memory: null, self, cross: {}, attentions }, caches);
  }

  protected logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return this.#head.compute(scope, hidden);
  }
}
