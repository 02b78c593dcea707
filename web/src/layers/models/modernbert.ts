// ModernBERT: a pre-norm encoder with rotary embedding and GeGLU, of which most layers see a window of tokens.

import { ACTIVATIONS, GATES } from "./activations.js";
import type { ModelConfig, ModelOptions } from "./config.js";
import { type EncoderFamily, EncoderModel } from "./encoder-model.js";
import { readLayerTypes } from "./layer-types.js";
import { MODERNBERT_NAMES } from "./names.js";
import { readRope } from "./rope-config.js";

const MODERNBERT: EncoderFamily = {
  where: "ModernBertModel",
  types: ["modernbert"],
  names: MODERNBERT_NAMES,
  read(read) {
    const layers = read.layers("num_hidden_layers");
    const norm = { epsilon: read.number("norm_eps", 1e-5), bias: read.flag("norm_bias", false) };
    const every = read.count("global_attn_every_n_layers", 3);
    const types = readLayerTypes(read, layers, (layer) => (layer % every ? "sliding_attention" : "full_attention"));
    // The field counts both sides.
    const side = Math.floor(read.count("local_attention", 128) / 2);
    const ropeOf = {
      full_attention: readRope(read, "full_attention", {
        theta: "global_rope_theta",
        absentTheta: 160000,
        isScaled: true,
        isOneOfTwo: true,
      }),
      sliding_attention: readRope(read, "sliding_attention", {
        theta: "local_rope_theta",
        absentTheta: 10000,
        isScaled: true,
        isOneOfTwo: true,
      }),
    };
    const attentionBias = read.flag("attention_bias", false);
    const transform = {
      activation: read.choice("classifier_activation", ACTIVATIONS, "gelu"),
      bias: read.flag("classifier_bias", false),
      norm,
    };
    const dropout = read.share("attention_dropout");
    const classes = read.share("classifier_dropout");
    return {
      stack: {
        layers,
        dropout: [dropout, 0],
        attentionDropout: dropout,
        dim: read.count("hidden_size"),
        heads: read.count("num_attention_heads"),
        hidden: read.count("intermediate_size"),
        activation: read.choice("hidden_activation", GATES, "gelu"),
        epsilon: norm.epsilon,
        bias: { qkv: attentionBias, out: attentionBias, mlp: read.flag("mlp_bias", false), norm: norm.bias },
        byLayer: types.map((type, layer) => ({
          rope: ropeOf[type],
          ...(type === "sliding_attention" ? { window: [side, side] as const } : {}),
          // The embeddings have a norm already.
          ...(layer === 0 ? { attentionNorm: false } : {}),
        })),
      },
      dropout: { embeddings: read.share("embedding_dropout"), texts: [0, classes], tokens: [0, classes] },
      count: read.count("vocab_size"),
      norm,
      hasPooler: false,
      words: { ...transform, hasBias: read.flag("decoder_bias", true) },
      classes: {
        from: read.choice("classifier_pooling", { cls: "cls", mean: "mean" } as const, "cls"),
        ofTexts: transform,
        ofTokens: transform,
      },
    };
  },
};

/** ModernBERT, from its config.json and its published parameters, whose names may begin with `model.`. */
export class ModernBertModel extends EncoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(MODERNBERT, config, options);
  }
}
