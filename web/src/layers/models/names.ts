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

const attentionOf = (stack: string): readonly string[] =>
  ["q", "k", "v"].map((part) => `${stack}.layers.*.self_attn.${part}_proj`);

export const BERT_NAMES: PublishedNames = {
  starts: ["", "bert."],
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
