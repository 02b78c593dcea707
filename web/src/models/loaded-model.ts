// A model that was loaded with what belongs to it: its tokenizer, its template, its rules.

import type { ArrayTensor } from "../api/tensor.js";
import { guardAsync } from "../base/guard.js";
import { guardStream } from "../base/guard-stream.js";
import type { ModelConfig } from "../layers/models/config.js";
import { DISPOSE } from "../memory/disposable.js";
import { type ClassifyOptions, classify, type Label } from "./classify.js";
import { type EmbedOptions, embed } from "./embed.js";
import { generate, type Piece, type Prompt, type TextOptions } from "./generate.js";
import type { Span } from "./label-spans.js";
import type { Model } from "./model.js";
import { createModelCache, type ModelCache, type ModelCacheOptions } from "./model-cache.js";
import type { ModelParts } from "./parts.js";
import type { TextOrPair } from "./text-batches.js";
import type { TextCodec } from "./text-codec.js";

/** Made by `loadModel`. */
export class LoadedModel {
  readonly model: Model;
  /** As in config.json. */
  readonly config: ModelConfig;
  /** Null where the files have none. Anything with `encode` and `decode` may take its place. */
  tokenizer: TextCodec | null;
  readonly #parts: ModelParts;

  /** @internal */
  constructor(parts: ModelParts) {
    this.model = parts.model;
    this.config = parts.config;
    this.tokenizer = parts.tokenizer;
    this.#parts = parts;
  }

  /** The continuation of a dialogue, a text or tokens, as it is made. */
  generate(prompt: Prompt, options?: TextOptions): AsyncGenerator<Piece, void, undefined> {
    const where = "generate";
    return guardStream("option", where, generate(where, this.#now(), prompt, options));
  }

  /** Texts as vectors, [texts, numbers]. A text's vector does not depend on the texts beside it. */
  embed(texts: string | readonly string[], options?: EmbedOptions): Promise<ArrayTensor> {
    return guardAsync("option", "embed", () => embed("embed", this.#now(), texts, options));
  }

  /** Of each text, or pair of texts, its labels, the likeliest first; of a head that reads tokens the spans that have labels. */
  classify(texts: string | readonly TextOrPair[], options?: ClassifyOptions): Promise<(Label | Span)[][]> {
    return guardAsync("option", "classify", () => classify("classify", this.#now(), texts, options));
  }

  /** A cache for `generate` that is kept between the turns of a dialogue. It must be disposed of. */
  createCache(options?: ModelCacheOptions): Promise<ModelCache> {
    const where = "createCache";
    return guardAsync("option", where, () => createModelCache(where, this.model, this.#parts.positions, options));
  }

  /** Frees all of it, once the passes under way have ended. */
  dispose(): void {
    this.model.dispose();
    this.#parts.head?.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  #now(): ModelParts {
    return { ...this.#parts, tokenizer: this.tokenizer };
  }
}
