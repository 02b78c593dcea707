// Gemma 3 of text, and EmbeddingGemma, its encoder: norms before and after each part, norms of queries and keys, windows in most layers.

import { GATES } from "./activations.js";
import type { ConfigReader, ModelConfig, ModelOptions } from "./config.js";
import { type DecoderFamily, DecoderModel, type DecoderShape } from "./decoder-model.js";
import { type EncoderFamily, EncoderModel } from "./encoder-model.js";
import { lastTokens, readLayerTypes } from "./layer-types.js";
import { EMBEDDINGGEMMA_NAMES, GEMMA3_NAMES } from "./names.js";
import { readRope } from "./rope-config.js";

/** Published files have no cap of scores, and transformers computes none. */
const COMPUTED = { attn_logit_softcapping: [null] };

/** `windowOf`: what layers see that do not see all tokens, by the field. */
function readGemma(read: ConfigReader, windowOf: (tokens: number) => readonly [number, number]): DecoderShape {
  read.only(COMPUTED);
  const layers = read.layers("num_hidden_layers");
  const dim = read.count("hidden_size");
  const heads = read.count("num_attention_heads");
  const every = read.count("sliding_window_pattern", 6);
  const types = readLayerTypes(read, layers, (layer) => ((layer + 1) % every ? "sliding_attention" : "full_attention"));
  const window = windowOf(read.count("sliding_window", 4096));
  const ropeOf = {
    full_attention: readRope(read, "full_attention", {
      theta: "rope_theta",
      absentTheta: 1e6,
      isScaled: true,
      isOneOfTwo: true,
    }),
    sliding_attention: readRope(read, "sliding_attention", {
      theta: "rope_local_base_freq",
      absentTheta: 10000,
      isScaled: false,
      isOneOfTwo: true,
    }),
  };
  const attentionBias = read.flag("attention_bias", false);
  return {
    count: read.count("vocab_size"),
    isTied: read.flag("tie_word_embeddings", true),
    embeddingScale: Math.sqrt(dim),
    self: { scale: read.positive("query_pre_attn_scalar", 256) ** -0.5 },
    stack: {
      layers,
      dim,
      heads,
      kvHeads: read.count("num_key_value_heads", 4),
      headDim: read.count("head_dim", 256),
      hidden: read.count("intermediate_size"),
      activation: read.choice("hidden_activation", GATES, "gelu_pytorch_tanh"),
      norm: "rms",
      sandwichNorm: true,
      qkNorm: true,
      epsilon: read.number("rms_norm_eps", 1e-6),
      attentionDropout: read.share("attention_dropout"),
      bias: { qkv: attentionBias, out: attentionBias, mlp: false },
      byLayer: types.map((type) => ({ rope: ropeOf[type], ...(type === "sliding_attention" ? { window } : {}) })),
    },
  };
}

const GEMMA3: DecoderFamily = {
  where: "Gemma3Model",
  types: ["gemma3_text"],
  names: GEMMA3_NAMES,
  read(read) {
    const shape = readGemma(read.only({ use_bidirectional_attention: [false] }), lastTokens);
    if (read.value("final_logit_softcapping") === undefined) return shape;
    return { ...shape, logitSoftcap: read.positive("final_logit_softcapping") };
  },
};

const EMBEDDINGGEMMA: EncoderFamily = {
  where: "EmbeddingGemmaModel",
  types: ["gemma3_text"],
  names: EMBEDDINGGEMMA_NAMES,
  read(read) {
    if (!read.flag("use_bidirectional_attention", false)) {
      throw read.unsupported("use_bidirectional_attention", "be true: Gemma3Model is for others");
    }
    // The field counts both sides.
    const { isTied: _, ...shape } = readGemma(read, (tokens) => [Math.floor(tokens / 2), Math.floor(tokens / 2)]);
    return { ...shape, hasPooler: false };
  },
};

/** Gemma 3 of text, from its config.json and its published parameters, whose names may begin with `model.`. */
export class Gemma3Model extends DecoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(GEMMA3, config, options);
  }
}

/** EmbeddingGemma, likewise. */
export class EmbeddingGemmaModel extends EncoderModel {
  constructor(config: ModelConfig, options?: ModelOptions) {
    super(EMBEDDINGGEMMA, config, options);
  }
}
