// A loaded model's parts, for the functions that work on them.

import type { Heed } from "../api/heed.js";
import type { ModelConfig } from "../layers/models/config.js";
import type { JinjaSource } from "../layers/text/jinja.js";
import type { Adapters } from "./adapters.js";
import type { ClassifierHead } from "./classifier-head.js";
import type { Dense } from "./dense.js";
import type { Family } from "./families.js";
import type { Model } from "./model.js";
import type { PublishedPaths } from "./published-paths.js";
import type { SentenceRule } from "./sentence-rule.js";
import type { SpecialTokens } from "./special-tokens.js";
import type { TextCodec } from "./text-codec.js";

export interface ModelParts {
  readonly model: Model;
  readonly config: ModelConfig;
  readonly family: Family;
  readonly engine: Heed | undefined;
  /** For labels, where the files have one that is no part of the model. */
  readonly head: ClassifierHead | null;
  /** Null where there is none. Others may be put in its place. */
  readonly tokenizer: TextCodec | null;
  readonly chatTemplate: string | null;
  readonly special: SpecialTokens;
  readonly sentence: SentenceRule;
  /** What texts go through after pooling. */
  readonly dense: readonly Dense[];
  readonly jinja: JinjaSource | undefined;
  /** The most tokens of a text, where the configuration says it. */
  readonly positions: number | undefined;
  /** What the published names of the file began with, such as `bert.`. */
  readonly start: string;
  readonly paths: PublishedPaths;
  readonly adapters: Adapters;
}
