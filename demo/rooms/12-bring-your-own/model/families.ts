// The models that run here, by the names of their parameters and what their config.json says of them.

import type { ModelConfig } from "heed/layers";

export interface Family {
  /** As config.json spells it. */
  readonly type: string;
  readonly name: string;
  /** Whether it says what comes next. */
  readonly isCausal: boolean;
  /** Of a file of its parameters, by any of these names. */
  readonly known: RegExp;
  /** What files have besides that no pass needs. */
  readonly unused: RegExp;
  readonly layer: RegExp;
  /** In config.json. */
  readonly sizes: Readonly<Record<"layers" | "heads" | "positions", string>>;
}

const HIDDEN = { layers: "num_hidden_layers", heads: "num_attention_heads" } as const;

export const FAMILIES: readonly Family[] = [
  {
    type: "gpt2",
    name: "GPT-2",
    isCausal: true,
    known: /^(?:transformer\.)?(?:w[tp]e|ln_f|h\.\d+\.(?:attn\.c_|mlp\.c_|ln_[12]))/,
    unused: /\.attn\.(?:masked_)?bias$/,
    layer: /^(?:transformer\.)?h\.(\d+)\./,
    sizes: { layers: "n_layer", heads: "n_head", positions: "n_positions" },
  },
  {
    type: "bert",
    name: "BERT",
    isCausal: false,
    known: /^(?:bert\.)?(?:embeddings\.word_embeddings|encoder\.layer\.\d+\.(?:attention|intermediate|output))/,
    unused: /^cls\.|position_ids$/,
    layer: /^(?:bert\.)?encoder\.layer\.(\d+)\./,
    sizes: { ...HIDDEN, positions: "max_position_embeddings" },
  },
  {
    type: "llama",
    name: "Llama",
    isCausal: true,
    known: /^(?:model\.)?(?:embed_tokens|layers\.\d+\.(?:self_attn\.[qkvo]_proj|mlp\.(?:gate|up|down)_proj))/,
    unused: /rotary_emb\.inv_freq$/,
    layer: /^(?:model\.)?layers\.(\d+)\./,
    sizes: { ...HIDDEN, positions: "max_position_embeddings" },
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
