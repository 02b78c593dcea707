// Llama: token embeddings, a pre-norm decoder with RMSNorm, rotary embedding, grouped KV heads and SwiGLU. Mistral adds a sliding window.

import type { RopeOptions, RopeScaling } from "../../api/operations/options.js";
import type { Tensor } from "../../api/tensor.js";
import { type Draw, transformerRule } from "../draw.js";
import { Embedding } from "../embedding.js";
import { Linear } from "../linear.js";
import type { Scope } from "../scope.js";
import { Decoder, type StackMade } from "../stacks.js";
import { type CausalInputs, CausalModel } from "./causal.js";
import { ConfigReader, type ModelConfig, type ModelOptions, readEngine } from "./config.js";
import { LLAMA_NAMES } from "./names.js";

const COMPUTED = { partial_rotary_factor: [1], mlp_bias: [false] };

/** Llama or Mistral, from its config.json and its published parameters, whose names may begin with `model.`. */
export class LlamaModel extends CausalModel {
  protected readonly layers: number;
  readonly #words: Embedding;
  readonly #decoder: Decoder;
  readonly #head: Linear;
  readonly #isTied: boolean;
  readonly #self: { readonly window?: readonly [number, number] };

  constructor(config: ModelConfig, options?: ModelOptions) {
    const where = "LlamaModel";
    const engine = readEngine(where, options);
    const read = new ConfigReader(where, config).ofType("llama", "mistral").only(COMPUTED);
    const isTied = read.flag("tie_word_embeddings", false);
    super(where, engine, LLAMA_NAMES, isTied);
    const dim = read.count("hidden_size");
    const count = read.count("vocab_size");
    const heads = read.count("num_attention_heads");
    const attentionBias = read.flag("attention_bias", false);
    read.choice("hidden_act", { silu: true }, "silu");
    // Only Mistral has a window. transformers ignores the field for Llama.
    const hasWindow = read.value("sliding_window") !== undefined && read.value("model_type") !== "llama";
    this.#self = hasWindow ? { window: [read.count("sliding_window") - 1, -1] } : {};
    this.layers = read.layers("num_hidden_layers");
    this.#words = this.part("words", new Embedding({ count, dim, engine }));
    this.#decoder = this.part(
      "decoder",
      new Decoder({
        layers: this.layers,
        dim,
        heads,
        kvHeads: read.count("num_key_value_heads", heads),
        headDim: read.count("head_dim", dim / heads),
        hidden: read.count("intermediate_size"),
        activation: "swiglu",
        norm: "rms",
        epsilon: read.number("rms_norm_eps", 1e-6),
        bias: { qkv: attentionBias, out: attentionBias, mlp: read.flag("mlp_bias", false) },
        rope: ropeOf(read),
        engine,
      }),
    );
    this.#isTied = isTied;
    this.#head = this.part("head", new Linear({ inFeatures: dim, outFeatures: count, bias: false, engine }));
  }

  protected override draw(draw: Draw): void {
    this.drawBy(transformerRule(draw, 0.02));
    if (this.#isTied) this.tie("head.weight", "words.weight");
  }

  protected async decode(scope: Scope, { tokens, self, caches, attentions }: CausalInputs): Promise<StackMade> {
    const x = await this.#words.compute(scope, tokens, { where: this.where, name: "tokens" });
    const inputs = { x, memory: null, self: { ...this.#self, ...self }, cross: {}, attentions };
    return this.#decoder.compute(scope, inputs, caches);
  }

  protected logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor> {
    return this.#head.compute(scope, hidden);
  }
}

/** From `rope_parameters` or, in older files, `rope_theta` and `rope_scaling`. */
function ropeOf(read: ConfigReader): Pick<RopeOptions, "base" | "scaling"> {
  const rules = (read.part("rope_parameters") ?? read.part("rope_scaling"))?.only({ partial_rotary_factor: [1] });
  const base = read.number("rope_theta", 10000);
  if (rules === undefined) return { base };
  const longest = read.value("max_position_embeddings") === undefined ? 2048 : read.count("max_position_embeddings");
  const scaling = scalingOf(rules, longest);
  return { base: rules.number("rope_theta", base), ...(scaling === null ? {} : { scaling }) };
}

const KINDS = { default: "default", linear: "linear", llama3: "llama3", yarn: "yarn" } as const;

function scalingOf(rules: ConfigReader, longest: number): RopeScaling | null {
  const type = rules.choice(rules.value("rope_type") === undefined ? "type" : "rope_type", KINDS, "default");
  if (type === "default") return null;
  const factor = rules.number("factor");
  if (type === "linear") return { type, factor };
  const originalLength = rules.count("original_max_position_embeddings", longest);
  if (type === "llama3") {
    const lowFrequencyFactor = rules.number("low_freq_factor", 1);
    return {
      type,
      factor,
      originalLength,
      lowFrequencyFactor,
      highFrequencyFactor: rules.number("high_freq_factor", 4),
    };
  }
  const [mscale, ofAll] = [rules.number("mscale", 0), rules.number("mscale_all_dim", 0)];
  const grown = (by: number): number => (factor > 1 ? 0.1 * by * Math.log(factor) + 1 : 1);
  return {
    type,
    factor,
    originalLength,
    betaFast: rules.number("beta_fast", 32),
    betaSlow: rules.number("beta_slow", 1),
    attentionFactor: rules.number("attention_factor", mscale * ofAll === 0 ? grown(1) : grown(mscale) / grown(ofAll)),
    truncate: rules.flag("truncate", true),
  };
}
