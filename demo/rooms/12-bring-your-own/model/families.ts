// The models that run here, by the names of their parameters and what their config.json says of them.

import type { ModelConfig } from "heed/layers";

export interface Family {
  /** As config.json spells it. */
  readonly type: string;
  readonly name: string;
  /** Whether it says what comes next. */
  readonly isCausal: boolean;
  /** What its published names may begin with. */
  readonly prefix: string;
  /** Of a file of its parameters, by any of these names. */
  readonly known: RegExp;
  /** What files have besides that no pass needs. */
  readonly unused: RegExp;
  readonly layer: RegExp;
  /** In config.json. */
  readonly sizes: Readonly<Record<"layers" | "heads" | "positions" | "width", string>>;
  readonly needed: readonly string[];
  readonly neededOfALayer: (layer: number) => readonly string[];
}

const weights = (start: string, ...parts: readonly string[]): readonly string[] =>
  parts.map((part) => `${start}${part}.weight`);

const HIDDEN = { layers: "num_hidden_layers", heads: "num_attention_heads", width: "hidden_size" } as const;

export const FAMILIES: readonly Family[] = [
  {
    type: "gpt2",
    name: "GPT-2",
    isCausal: true,
    prefix: "transformer.",
    known: /^(?:transformer\.)?(?:w[tp]e|ln_f|h\.\d+\.(?:attn\.c_|mlp\.c_|ln_[12]))/,
    unused: /\.attn\.(?:masked_)?bias$/,
    layer: /^(?:transformer\.)?h\.(\d+)\./,
    sizes: { layers: "n_layer", heads: "n_head", positions: "n_positions", width: "n_embd" },
    needed: weights("", "wte", "wpe", "ln_f"),
    neededOfALayer: (layer) =>
      weights(`h.${layer}.`, "ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"),
  },
  {
    type: "bert",
    name: "BERT",
    isCausal: false,
    prefix: "bert.",
    known: /^(?:bert\.)?(?:embeddings\.word_embeddings|encoder\.layer\.\d+\.(?:attention|intermediate|output))/,
    unused: /^cls\.|position_ids$/,
    layer: /^(?:bert\.)?encoder\.layer\.(\d+)\./,
    sizes: { ...HIDDEN, positions: "max_position_embeddings" },
    needed: weights("embeddings.", "word_embeddings", "position_embeddings", "token_type_embeddings"),
    neededOfALayer: (layer) =>
      weights(
        `encoder.layer.${layer}.`,
        ...["query", "key", "value"].map((part) => `attention.self.${part}`),
        ...["attention.output", "intermediate", "output"].map((part) => `${part}.dense`),
      ),
  },
  {
    type: "llama",
    name: "Llama",
    isCausal: true,
    prefix: "model.",
    known: /^(?:model\.)?(?:embed_tokens|layers\.\d+\.(?:self_attn\.[qkvo]_proj|mlp\.(?:gate|up|down)_proj))/,
    unused: /rotary_emb\.inv_freq$/,
    layer: /^(?:model\.)?layers\.(\d+)\./,
    sizes: { ...HIDDEN, positions: "max_position_embeddings" },
    needed: weights("", "embed_tokens", "norm"),
    neededOfALayer: (layer) =>
      weights(
        `layers.${layer}.`,
        ...["q", "k", "v", "o"].map((part) => `self_attn.${part}_proj`),
        ...["gate", "up", "down"].map((part) => `mlp.${part}_proj`),
        "input_layernorm",
        "post_attention_layernorm",
      ),
  },
];

/** "GPT-2, BERT and Llama" */
export const FAMILY_NAMES = FAMILIES.map(({ name }) => name)
  .join(", ")
  .replace(/, (?=[^,]*$)/, " and ");

/** Numbers of a model, rather than what it computes. */
export function isParameter(name: string): boolean {
  return /(?:^|\.)(?:weight|bias|gamma|beta)$/.test(name);
}

export function familyOfNames(names: readonly string[]): Family | undefined {
  return FAMILIES.find(({ known }) => names.some((name) => known.test(name)));
}

export function familyOfConfig(config: ModelConfig): Family | undefined {
  return FAMILIES.find(({ type }) => type === config["model_type"]);
}

/** What it takes of a file. */
export function isUsed(family: Family, name: string): boolean {
  return isParameter(name) && !family.unused.test(name);
}
