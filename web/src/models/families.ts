// The models that heed computes, by the model_type of their configurations, and the published names of their parameters.

import type { Heed } from "../api/heed.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { BertModel } from "../layers/models/bert.js";
import type { ModelConfig } from "../layers/models/config.js";
import { GPT2Model } from "../layers/models/gpt2.js";
import { LlamaModel } from "../layers/models/llama.js";
import { BERT_NAMES, GPT2_NAMES, LLAMA_NAMES, type PublishedNames } from "../layers/models/names.js";
import type { Model } from "./model.js";

export interface Family {
  readonly make: (config: ModelConfig, options: { readonly engine: Heed | undefined }) => Model;
  readonly names: PublishedNames;
  /** Layers beside those of the table, by heed's names. A star at the start is what names of the model begin with. */
  readonly others: Readonly<Record<string, string>>;
  /** Whether it gives logits of the next token. */
  readonly isCausal: boolean;
}

const BERT: Family = {
  make: (config, options) => new BertModel(config, options),
  names: BERT_NAMES,
  others: {
    pooler: "*pooler.dense",
    "head.dense": "cls.predictions.transform.dense",
    "head.norm": "cls.predictions.transform.LayerNorm",
    "head.decoder.weight": "cls.predictions.decoder.weight",
    "head.decoder.bias": "cls.predictions.bias",
  },
  isCausal: false,
};

const GPT2: Family = {
  make: (config, options) => new GPT2Model(config, options),
  names: GPT2_NAMES,
  others: { head: "lm_head" },
  isCausal: true,
};

const LLAMA: Family = {
  make: (config, options) => new LlamaModel(config, options),
  names: LLAMA_NAMES,
  others: { head: "lm_head" },
  isCausal: true,
};

const FAMILIES: ReadonlyMap<unknown, Family> = new Map([
  ["bert", BERT],
  ["gpt2", GPT2],
  ["llama", LLAMA],
  ["mistral", LLAMA],
]);

export function familyOf(where: string, { model_type: type }: ModelConfig): Family {
  const family = FAMILIES.get(type);
  if (family !== undefined) return family;
  const known = [...FAMILIES.keys()].join(", ");
  throw new HeedError("unsupported", `${where}: config.model_type must be one of ${known}, got ${showValue(type)}`);
}
