// The published names of models' parameters, beside heed's names of the same layers.

export interface PublishedNames {
  /** What all of them may begin with. */
  readonly starts: readonly string[];
  /** By heed's names. A star is the number of a layer. */
  readonly parts: Readonly<Record<string, string>> & { readonly words: string };
  /** By published names of layers that hold several of heed's, whose rows are one after another and equally many. */
  readonly fused?: Readonly<Record<string, readonly string[]>>;
  /** heed's names of norms with a weight that is 1 more than the published one. */
  readonly shifted?: RegExp;
  /** Whether matrices in layers are [in, out]. */
  readonly isTransposed?: boolean;
}

/** Names of an encoder's poolers and heads. */
export interface EncoderNames extends PublishedNames {
  readonly pooler?: string;
  /** The head for masked words, whose bias may have a name of its own. */
  readonly masked?: { readonly dense: string; readonly norm: string; readonly decoder: string; readonly bias?: string };
  readonly ofTexts: HeadNames;
  readonly ofTokens: HeadNames;
}

export interface HeadNames {
  readonly dense?: string;
  readonly norm?: string;
  readonly decoder: string;
}

/** The classifiers of most families. */
export const CLASSIFIER: HeadNames = { decoder: "classifier" };

/** Those of causal models. */
export const SCORE: HeadNames = { decoder: "score" };

const attentionOf = (stack: string): readonly string[] =>
  ["q", "k", "v"].map((part) => `${stack}.layers.*.self_attn.${part}_proj`);

export const BERT_NAMES: EncoderNames = {
  starts: ["", "bert."],
  pooler: "pooler.dense",
  masked: {
    dense: "cls.predictions.transform.dense",
    norm: "cls.predictions.transform.LayerNorm",
    decoder: "cls.predictions.decoder",
    bias: "cls.predictions",
  },
  ofTexts: CLASSIFIER,
  ofTokens: CLASSIFIER,
  parts: {
    words: "embeddings.word_embeddings",
    positions: "embeddings.position_embeddings",
    types: "embeddings.token_type_embeddings",
    norm: "embeddings.LayerNorm",
    "encoder.layers.*.self_attn.q_proj": "encoder.layer.*.attention.self.query",
    "encoder.layers.*.self_attn.k_proj": "encoder.layer.*.attention.self.key",
    "encoder.layers.*.self_attn.v_proj": "encoder.layer.*.attention.self.value",
    "encoder.layers.*.self_attn.out_proj": "encoder.layer.*.attention.output.dense",
    "encoder.layers.*.norm1": "encoder.layer.*.attention.output.LayerNorm",
    "encoder.layers.*.mlp.up_proj": "encoder.layer.*.intermediate.dense",
    "encoder.layers.*.mlp.down_proj": "encoder.layer.*.output.dense",
    "encoder.layers.*.norm2": "encoder.layer.*.output.LayerNorm",
  },
};

/** Those of RoBERTa and what came from it. */
const LM_HEAD = { dense: "lm_head.dense", norm: "lm_head.layer_norm", decoder: "lm_head.decoder", bias: "lm_head" };

/** A projection of the first token, then the classes. */
export const PROJECTED: HeadNames = { dense: "classifier.dense", decoder: "classifier.out_proj" };

export const ROBERTA_NAMES: EncoderNames = {
  ...BERT_NAMES,
  starts: ["", "roberta."],
  masked: LM_HEAD,
  ofTexts: PROJECTED,
};

/** The same by DistilBERT's names. */
export const PRE_CLASSIFIER: HeadNames = { dense: "pre_classifier", decoder: "classifier" };

export const DISTILBERT_NAMES: EncoderNames = {
  starts: ["", "distilbert."],
  masked: { dense: "vocab_transform", norm: "vocab_layer_norm", decoder: "vocab_projector" },
  ofTexts: PRE_CLASSIFIER,
  ofTokens: CLASSIFIER,
  parts: {
    words: "embeddings.word_embeddings",
    positions: "embeddings.position_embeddings",
    norm: "embeddings.LayerNorm",
    "encoder.layers.*.self_attn.q_proj": "transformer.layer.*.attention.q_lin",
    "encoder.layers.*.self_attn.k_proj": "transformer.layer.*.attention.k_lin",
    "encoder.layers.*.self_attn.v_proj": "transformer.layer.*.attention.v_lin",
    "encoder.layers.*.self_attn.out_proj": "transformer.layer.*.attention.out_lin",
    "encoder.layers.*.norm1": "transformer.layer.*.sa_layer_norm",
    "encoder.layers.*.mlp.up_proj": "transformer.layer.*.ffn.lin1",
    "encoder.layers.*.mlp.down_proj": "transformer.layer.*.ffn.lin2",
    "encoder.layers.*.norm2": "transformer.layer.*.output_layer_norm",
  },
};

export const MPNET_NAMES: EncoderNames = {
  starts: ["", "mpnet."],
  pooler: "pooler.dense",
  masked: LM_HEAD,
  ofTexts: PROJECTED,
  ofTokens: CLASSIFIER,
  parts: {
    words: "embeddings.word_embeddings",
    positions: "embeddings.position_embeddings",
    norm: "embeddings.LayerNorm",
    "encoder.relative_bias": "encoder.relative_attention_bias",
    "encoder.layers.*.self_attn.q_proj": "encoder.layer.*.attention.attn.q",
    "encoder.layers.*.self_attn.k_proj": "encoder.layer.*.attention.attn.k",
    "encoder.layers.*.self_attn.v_proj": "encoder.layer.*.attention.attn.v",
    "encoder.layers.*.self_attn.out_proj": "encoder.layer.*.attention.attn.o",
    "encoder.layers.*.norm1": "encoder.layer.*.attention.LayerNorm",
    "encoder.layers.*.mlp.up_proj": "encoder.layer.*.intermediate.dense",
    "encoder.layers.*.mlp.down_proj": "encoder.layer.*.output.dense",
    "encoder.layers.*.norm2": "encoder.layer.*.output.LayerNorm",
  },
};

export const MODERNBERT_NAMES: EncoderNames = {
  starts: ["model.", ""],
  masked: { dense: "head.dense", norm: "head.norm", decoder: "decoder" },
  ofTexts: { dense: "head.dense", norm: "head.norm", decoder: "classifier" },
  ofTokens: { dense: "head.dense", norm: "head.norm", decoder: "classifier" },
  parts: {
    words: "embeddings.tok_embeddings",
    norm: "embeddings.norm",
    "encoder.norm": "final_norm",
    "encoder.layers.*.self_attn.out_proj": "layers.*.attn.Wo",
    "encoder.layers.*.norm1": "layers.*.attn_norm",
    "encoder.layers.*.mlp.down_proj": "layers.*.mlp.Wo",
    "encoder.layers.*.norm2": "layers.*.mlp_norm",
  },
  fused: {
    "layers.*.attn.Wqkv": attentionOf("encoder"),
    "layers.*.mlp.Wi": ["encoder.layers.*.mlp.gate_proj", "encoder.layers.*.mlp.up_proj"],
  },
};

export const GPT2_NAMES: PublishedNames = {
  starts: ["", "transformer."],
  parts: {
    words: "wte",
    positions: "wpe",
    "decoder.norm": "ln_f",
    "decoder.layers.*.norm1": "h.*.ln_1",
    "decoder.layers.*.self_attn.out_proj": "h.*.attn.c_proj",
    "decoder.layers.*.norm2": "h.*.ln_2",
    "decoder.layers.*.mlp.up_proj": "h.*.mlp.c_fc",
    "decoder.layers.*.mlp.down_proj": "h.*.mlp.c_proj",
  },
  fused: { "h.*.attn.c_attn": attentionOf("decoder") },
  isTransposed: true,
};

/** Llama's, and of those that came from it. */
export const LLAMA_NAMES: PublishedNames = {
  starts: ["model.", ""],
  parts: {
    words: "embed_tokens",
    "decoder.norm": "norm",
    "decoder.layers.*.self_attn.q_proj": "layers.*.self_attn.q_proj",
    "decoder.layers.*.self_attn.k_proj": "layers.*.self_attn.k_proj",
    "decoder.layers.*.self_attn.v_proj": "layers.*.self_attn.v_proj",
    "decoder.layers.*.self_attn.out_proj": "layers.*.self_attn.o_proj",
    "decoder.layers.*.self_attn.q_norm": "layers.*.self_attn.q_norm",
    "decoder.layers.*.self_attn.k_norm": "layers.*.self_attn.k_norm",
    "decoder.layers.*.mlp.gate_proj": "layers.*.mlp.gate_proj",
    "decoder.layers.*.mlp.up_proj": "layers.*.mlp.up_proj",
    "decoder.layers.*.mlp.down_proj": "layers.*.mlp.down_proj",
    "decoder.layers.*.norm1": "layers.*.input_layernorm",
    "decoder.layers.*.norm2": "layers.*.post_attention_layernorm",
  },
};

const GEMMA3_PARTS = {
  ...LLAMA_NAMES.parts,
  "decoder.layers.*.post_norm1": "layers.*.post_attention_layernorm",
  "decoder.layers.*.norm2": "layers.*.pre_feedforward_layernorm",
  "decoder.layers.*.post_norm2": "layers.*.post_feedforward_layernorm",
};

export const GEMMA3_NAMES: PublishedNames = {
  starts: LLAMA_NAMES.starts,
  parts: GEMMA3_PARTS,
  shifted: /norm/,
};

/** Gemma 3's, of an encoder. */
export const EMBEDDINGGEMMA_NAMES: EncoderNames = {
  ...GEMMA3_NAMES,
  ofTexts: SCORE,
  ofTokens: SCORE,
  parts: {
    words: GEMMA3_PARTS.words,
    ...Object.fromEntries(
      Object.entries(GEMMA3_PARTS).map(([ours, theirs]) => [ours.replace(/^decoder/, "encoder"), theirs]),
    ),
  },
};
