// Llama and what came from it: a pre-norm decoder with RMSNorm, rotary embedding, grouped KV heads and SwiGLU.

import type { ConfigReader, ModelConfig, ModelOptions } from "./config.js";
import { type DecoderFamily, DecoderModel, type DecoderShape } from "./decoder-model.js";
import { lastTokens } from "./layer-types.js";
import { LLAMA_NAMES } from "./names.js";
import { readRope } from "./rope-config.js";

/** What all of them say alike, and what it is where a configuration leaves it out. */
export function readLlamaLike(
  read: ConfigReader,
  absent: { readonly headDim?: number; readonly theta?: number } = {},
): DecoderShape {
  read.only({ partial_rotary_factor: [1] });
  read.choice("hidden_act", { silu: true }, "silu");
  const dim = read.count("hidden_size");
  const heads = read.count("num_attention_heads");
  const attentionBias = read.flag("attention_bias", false);
  return {
    count: read.count("vocab_size"),
    isTied: read.flag("tie_word_embeddings", false),
    stack: {
      layers: read.layers("num_hidden_layers"),
      dim,
      heads,
      kvHeads: read.count("num_key_value_heads", heads),
      headDim: read.count("head_dim", absent.headDim ?? dim / heads),
      hidden: read.count("intermediate_size"),
      activation: "swiglu",
      norm: "rms",
      epsilon: read.number("rms_norm_eps", 1e-6),
      attentionDropout: read.share("attention_dropout"),
      bias: { qkv: attentionBias, out: attentionBias, mlp: read.flag("mlp_bias", false) },
      rope: readRope(read, "full_attention", {
        theta: "rope_theta",
        absentTheta: absent.theta ?? 10000,
        isScaled: true,
      }),
    },
  };
}

const LLAMA: DecoderFamily = {
  where: "LlamaModel",
  types: ["llama", "mistral"],
  names: LLAMA_NAMES,
  read(read) {
    const shape = readLlamaLike(read.only({ mlp_bias: [false] }));
    // Only Mistral has a window. transformers ignores the field for Llama.
    const hasWindow = read.value("sliding_window") !== undefined && read.value("model_type") !== "llama";
    return hasWindow
      ? { ...shape, stack: { ...shape.stack, window: lastTokens(read.count("sliding_window")) } }
      : shape;
  },
};

/** Llama or Mistral, from its config.json and its published parameters, whose names may begin with `model.`. */
export class LlamaModel extends DecoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(LLAMA, config, options);
  }
}
