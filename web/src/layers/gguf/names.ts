// The names of tensors in GGUF files beside the published ones, without `.weight` and `.bias`. A star is the number of a layer.

export type NameTable = Readonly<Record<string, string>>;

export const DECODER_TENSORS: NameTable = {
  token_embd: "model.embed_tokens",
  output_norm: "model.norm",
  output: "lm_head",
  "blk.*.attn_norm": "model.layers.*.input_layernorm",
  "blk.*.attn_q": "model.layers.*.self_attn.q_proj",
  "blk.*.attn_k": "model.layers.*.self_attn.k_proj",
  "blk.*.attn_v": "model.layers.*.self_attn.v_proj",
  "blk.*.attn_q_norm": "model.layers.*.self_attn.q_norm",
  "blk.*.attn_k_norm": "model.layers.*.self_attn.k_norm",
  "blk.*.attn_output": "model.layers.*.self_attn.o_proj",
  "blk.*.ffn_norm": "model.layers.*.post_attention_layernorm",
  "blk.*.ffn_gate": "model.layers.*.mlp.gate_proj",
  "blk.*.ffn_up": "model.layers.*.mlp.up_proj",
  "blk.*.ffn_down": "model.layers.*.mlp.down_proj",
};

export const BERT_TENSORS: NameTable = {
  token_embd: "embeddings.word_embeddings",
  position_embd: "embeddings.position_embeddings",
  token_types: "embeddings.token_type_embeddings",
  token_embd_norm: "embeddings.LayerNorm",
  "blk.*.attn_q": "encoder.layer.*.attention.self.query",
  "blk.*.attn_k": "encoder.layer.*.attention.self.key",
  "blk.*.attn_v": "encoder.layer.*.attention.self.value",
  "blk.*.attn_output": "encoder.layer.*.attention.output.dense",
  "blk.*.attn_output_norm": "encoder.layer.*.attention.output.LayerNorm",
  "blk.*.ffn_up": "encoder.layer.*.intermediate.dense",
  "blk.*.ffn_down": "encoder.layer.*.output.dense",
  "blk.*.layer_output_norm": "encoder.layer.*.output.LayerNorm",
};

/** The table for the other direction. */
export const inverted = (table: NameTable): NameTable =>
  Object.fromEntries(Object.entries(table).map(([one, other]) => [other, one]));

/** The other name of a tensor; undefined for one that the table does not have. */
export function renamed(table: NameTable, name: string): string | undefined {
  const [, stem = "", kind] = /^(.*)(\.weight|\.bias)$/.exec(name) ?? [];
  const layer = /\.(\d+)\./.exec(stem)?.[1];
  const known = layer === undefined ? stem : stem.replace(`.${layer}.`, ".*.");
  const other = Object.hasOwn(table, known) ? table[known] : undefined;
  return other === undefined ? undefined : `${other.replace("*", layer ?? "*")}${kind}`;
}
