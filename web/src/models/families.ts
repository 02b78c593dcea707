// The models that heed computes, by the model_type of their configurations, and the published names of their parameters.

import type { Heed } from "../api/heed.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { BertModel, DistilBertModel, MPNetModel, RobertaModel } from "../layers/models/bert.js";
import type { ModelConfig } from "../layers/models/config.js";
import { EmbeddingGemmaModel, Gemma3Model } from "../layers/models/gemma3.js";
import { GPT2Model } from "../layers/models/gpt2.js";
import { type Labels, labelledBy } from "../layers/models/labels.js";
import { LlamaModel } from "../layers/models/llama.js";
import { ModernBertModel } from "../layers/models/modernbert.js";
import {
  BERT_NAMES,
  DISTILBERT_NAMES,
  EMBEDDINGGEMMA_NAMES,
  type EncoderNames,
  GEMMA3_NAMES,
  GPT2_NAMES,
  type HeadNames,
  LLAMA_NAMES,
  MODERNBERT_NAMES,
  MPNET_NAMES,
  type PublishedNames,
  ROBERTA_NAMES,
  SCORE,
} from "../layers/models/names.js";
import { Qwen2Model, Qwen3Model } from "../layers/models/qwen.js";
import { SmolLM3Model } from "../layers/models/smollm3.js";
import type { Model } from "./model.js";

export interface Family {
  readonly make: (config: ModelConfig, options: { readonly engine: Heed | undefined }) => Model;
  readonly names: PublishedNames;
  /** Layers beside those of the table, by heed's names. A star at the start is what names of the model begin with. */
  readonly others: Readonly<Record<string, string>>;
  /** The same of a classifier, in place of a head for words. */
  readonly ofLabels: {
    readonly texts: Readonly<Record<string, string>>;
    readonly tokens: Readonly<Record<string, string>>;
  };
  /** Whether it gives logits of the next token. */
  readonly isCausal: boolean;
}

type Make = new (config: ModelConfig, options: { readonly engine: Heed | undefined }) => Model;

const encoder = (Model: Make, names: EncoderNames): Family => ({
  make: (config, options) => new Model(config, options),
  names,
  others: { ...poolerOf(names), ...wordsOf(names) },
  ofLabels: {
    texts: { ...poolerOf(names), ...layersOf(names.ofTexts) },
    tokens: { ...poolerOf(names), ...layersOf(names.ofTokens) },
  },
  isCausal: false,
});

const decoder = (Model: Make, names: PublishedNames): Family => ({
  make: (config, options) => new Model(config, options),
  names,
  others: { head: "lm_head" },
  ofLabels: { texts: { head: SCORE.decoder }, tokens: { head: SCORE.decoder } },
  isCausal: true,
});

type Names = Readonly<Record<string, string>>;

const poolerOf = ({ pooler }: EncoderNames): Names => (pooler === undefined ? {} : { pooler: `*${pooler}` });

function wordsOf({ masked }: EncoderNames): Names {
  if (masked === undefined) return {};
  const { dense, norm, decoder: matrix, bias = matrix } = masked;
  const head = { "head.dense": dense, "head.norm": norm };
  return { ...head, "head.decoder.weight": `${matrix}.weight`, "head.decoder.bias": `${bias}.bias` };
}

function layersOf({ dense, norm, decoder: matrix }: HeadNames): Names {
  return {
    ...(dense !== undefined && { "classifier.dense": dense }),
    ...(norm !== undefined && { "classifier.norm": norm }),
    "classifier.decoder": matrix,
  };
}

const ROBERTA = encoder(RobertaModel, ROBERTA_NAMES);
const EMBEDDING_GEMMA = encoder(EmbeddingGemmaModel, EMBEDDINGGEMMA_NAMES);
const LLAMA = decoder(LlamaModel, LLAMA_NAMES);

const GEMMA = "gemma3_text";

const FAMILIES: ReadonlyMap<unknown, Family> = new Map([
  ["bert", encoder(BertModel, BERT_NAMES)],
  ["roberta", ROBERTA],
  ["xlm-roberta", ROBERTA],
  ["camembert", ROBERTA],
  ["distilbert", encoder(DistilBertModel, DISTILBERT_NAMES)],
  ["mpnet", encoder(MPNetModel, MPNET_NAMES)],
  ["modernbert", encoder(ModernBertModel, MODERNBERT_NAMES)],
  ["gpt2", decoder(GPT2Model, GPT2_NAMES)],
  ["llama", LLAMA],
  ["mistral", LLAMA],
  ["qwen2", decoder(Qwen2Model, LLAMA_NAMES)],
  ["qwen3", decoder(Qwen3Model, LLAMA_NAMES)],
  ["smollm3", decoder(SmolLM3Model, LLAMA_NAMES)],
  [GEMMA, decoder(Gemma3Model, GEMMA3_NAMES)],
]);

export function familyOf(where: string, config: ModelConfig): Family {
  const { model_type: type, use_bidirectional_attention: seesBothWays } = config;
  const family = type === GEMMA && seesBothWays === true ? EMBEDDING_GEMMA : FAMILIES.get(type);
  if (family !== undefined) return withLabels(family, config);
  const known = [...FAMILIES.keys()].join(", ");
  throw new HeedError("unsupported", `${where}: config.model_type must be one of ${known}, got ${showValue(type)}`);
}

function withLabels(family: Family, config: ModelConfig): Family {
  const of = ownLabels(config);
  return of === null ? family : { ...family, others: family.ofLabels[of] };
}

/** What a model's own head has labels of, by its configuration; null: of nothing. */
export function ownLabels({ architectures }: ModelConfig): Labels["of"] | null {
  return Array.isArray(architectures) ? labelledBy(architectures[0]) : null;
}
