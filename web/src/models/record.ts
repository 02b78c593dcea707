// What the files of a model say, however they are stored.

import type { TensorStream } from "../layers/io/tensor-stream.js";
import type { ModelConfig } from "../layers/models/config.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import type { Tokenizer } from "../layers/text/tokenizer.js";
import type { SentenceRule } from "./sentence-rule.js";
import type { SpecialTokens } from "./special-tokens.js";

export interface ModelRecord {
  readonly config: ModelConfig;
  /** The weights, still to be read. They must be closed. */
  readonly stream: TensorStream<ParameterInput>;
  readonly tokenizer: Tokenizer | null;
  /** The Jinja template of messages. */
  readonly chatTemplate: string | null;
  readonly special: SpecialTokens;
  readonly sentence: SentenceRule;
}

export interface ReadingOptions {
  readonly signal: AbortSignal | null;
  readonly wantsTokenizer: boolean;
  readonly weights: "f32" | "as stored";
  readonly report: (
    file: string,
  ) => (progress: { readonly loaded: number; readonly total: number | undefined }) => void;
  /** Refuses a configuration, or a model that is too large, before its weights are read. */
  readonly check: (config: ModelConfig) => void;
}
