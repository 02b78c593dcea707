// Models by `general.architecture`: their configurations as config.json has them, and the published names of their tensors.

import type { ModelConfig } from "../models/config.js";
import type { GgufEntry } from "./header.js";
import type { Metadata } from "./metadata.js";
import { BERT_TENSORS, DECODER_TENSORS, type NameTable } from "./names.js";

export interface Architecture {
  readonly names: NameTable;
  /** Tensors whose rows are in pairs of neighbours, with the field of the configuration that counts their heads. */
  readonly interleaved: Readonly<Record<string, "num_attention_heads" | "num_key_value_heads">>;
  readonly config: (file: ModelFile) => ModelConfig;
}

/** The header of a model's file. */
export class ModelFile {
  readonly metadata: Metadata;
  readonly name: string;
  readonly #entries: ReadonlyMap<string, GgufEntry>;

  constructor(metadata: Metadata, entries: readonly GgufEntry[]) {
    this.metadata = metadata;
    this.name = metadata.required("general.architecture", metadata.text("general.architecture"));
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  has(tensor: string): boolean {
    return this.#entries.has(tensor);
  }

  /** The rows of a tensor that must be there. */
  rows(tensor: string): number {
    const [rows] = this.#entries.get(tensor)?.shape ?? [];
    if (rows !== undefined) return rows;
    throw this.metadata.refusal(`the file must have a tensor "${tensor}"`, undefined);
  }

  /** A field of the architecture that must be there. */
  whole(name: string): number {
    const full = `${this.name}.${name}`;
    return this.metadata.required(full, this.metadata.whole(full));
  }

  maybeWhole(name: string): number | undefined {
    return this.metadata.whole(`${this.name}.${name}`);
  }

  number(name: string): number {
    const full = `${this.name}.${name}`;
    return this.metadata.required(full, this.metadata.number(full));
  }

  maybeNumber(name: string): number | undefined {
    return this.metadata.number(`${this.name}.${name}`);
  }
}

const common = (file: ModelFile) => ({
  hidden_size: file.whole("embedding_length"),
  num_hidden_layers: file.whole("block_count"),
  num_attention_heads: file.whole("attention.head_count"),
  intermediate_size: file.whole("feed_forward_length"),
  max_position_embeddings: file.whole("context_length"),
  vocab_size: file.rows("token_embd.weight"),
});

function decoder(modelType: string, file: ModelFile): ModelConfig {
  const fields = common(file);
  const headDim = file.maybeWhole("attention.key_length") ?? fields.hidden_size / fields.num_attention_heads;
  const turned = file.maybeWhole("rope.dimension_count") ?? headDim;
  const base = file.maybeNumber("rope.freq_base") ?? 10000;
  const scaling = scalingOf(file);
  return {
    model_type: modelType,
    ...fields,
    num_key_value_heads: file.maybeWhole("attention.head_count_kv") ?? fields.num_attention_heads,
    head_dim: headDim,
    hidden_act: "silu",
    rms_norm_eps: file.number("attention.layer_norm_rms_epsilon"),
    rope_parameters: { rope_theta: base, ...scaling },
    ...(turned === headDim ? {} : { partial_rotary_factor: turned / headDim }),
    tie_word_embeddings: !file.has("output.weight"),
    attention_bias: file.has("blk.0.attn_q.bias"),
    mlp_bias: file.has("blk.0.ffn_up.bias"),
  };
}

function scalingOf(file: ModelFile): NonNullable<ModelConfig["rope_parameters"]> {
  const type = file.metadata.text(`${file.name}.rope.scaling.type`) ?? "none";
  if (type === "none") return { rope_type: "default" };
  if (type !== "linear" && type !== "yarn") {
    throw file.metadata.unsupported(`metadata "${file.name}.rope.scaling.type" must be none, linear or yarn`, type);
  }
  const scaling = { rope_type: type, factor: file.number("rope.scaling.factor") };
  if (type === "linear") return scaling;
  return { ...scaling, original_max_position_embeddings: file.whole("rope.scaling.original_context_length") };
}

/** Mistral's files are of this architecture as well, and have a window. */
function llama(file: ModelFile): ModelConfig {
  const window = file.maybeWhole("attention.sliding_window");
  return window === undefined ? decoder("llama", file) : { ...decoder("mistral", file), sliding_window: window };
}

const bert = (file: ModelFile): ModelConfig => ({
  model_type: "bert",
  ...common(file),
  hidden_act: "gelu",
  layer_norm_eps: file.number("attention.layer_norm_epsilon"),
  type_vocab_size: file.rows("token_types.weight"),
});

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  llama: {
    names: DECODER_TENSORS,
    interleaved: { "blk.*.attn_q": "num_attention_heads", "blk.*.attn_k": "num_key_value_heads" },
    config: llama,
  },
  qwen2: { names: DECODER_TENSORS, interleaved: {}, config: (file) => decoder("qwen2", file) },
  qwen3: { names: DECODER_TENSORS, interleaved: {}, config: (file) => decoder("qwen3", file) },
  bert: { names: BERT_TENSORS, interleaved: {}, config: bert },
};

export function architectureOf(file: ModelFile): Architecture {
  const found = Object.hasOwn(ARCHITECTURES, file.name) ? ARCHITECTURES[file.name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(ARCHITECTURES).join(", ");
  throw file.metadata.unsupported(`general.architecture must be one of ${known}`, file.name);
}
