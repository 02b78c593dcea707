// A model that was loaded with what belongs to it: its tokenizer, its template, its rules.

import type { ArrayTensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { guardStream } from "../base/guard-stream.js";
import { readRecord, readSignal } from "../base/read-values.js";
import type { ModelConfig } from "../layers/models/config.js";
import { DISPOSE } from "../memory/disposable.js";
import { isTrained, type LoadedAdapter, type TrainedAdapter } from "./adapters.js";
import { type ClassifyOptions, classify, type Label } from "./classify.js";
import { type EmbedOptions, embed } from "./embed.js";
import { filesOf, type ModelSource } from "./files.js";
import { generate, type TextOptions } from "./generate.js";
import type { Span } from "./label-spans.js";
import type { Model } from "./model.js";
import { createModelCache, type ModelCache, type ModelCacheOptions } from "./model-cache.js";
import type { ModelParts } from "./parts.js";
import { type Prompt, promptOf } from "./prompts.js";
import { savedAdapter } from "./save-adapter.js";
import { type SavedFiles, type SaveModelOptions, savedFiles } from "./save-model.js";
import type { TextOrPair } from "./text-batches.js";
import type { TextCodec } from "./text-codec.js";
import type { Piece } from "./text-writer.js";

/** The options of `LoadedModel.save`. */
export interface SaveOptions extends SaveModelOptions {
  readonly adapter?: string | TrainedAdapter | undefined;
}

/** The options of `loadAdapter`. */
export interface AdapterOptions {
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
}

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

  /** The continuation of a dialogue, a text or tokens, as it is made, or of several at once: a token of each in turn. */
  generate(prompt: Prompt | readonly Prompt[], options?: TextOptions): AsyncGenerator<Piece, void, undefined> {
    const where = "generate";
    return guardStream("option", where, generate(where, this.#now(), prompt, options));
  }

  /** The tokens that `generate` reads one prompt as, those of its template included: what attention weights are of. */
  encode(prompt: Prompt, options?: Pick<TextOptions, "template" | "signal">): Promise<number[]> {
    const where = "encode";
    return guardAsync("option", where, async () => {
      const { template, signal } = readRecord(where, "options", options, ["template", "signal"]);
      return promptOf(where, this.#now(), prompt, template, readSignal(where, signal));
    });
  }

  /** Texts as vectors, [texts, numbers], of as many numbers where there is no text. A text's vector does not depend on the texts beside it. */
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

  /** `config.json` and `model.safetensors` under published names, or the two files of an adapter: of one that was loaded, by its name, or of what `lora` has learnt. */
  save(options?: SaveOptions): Promise<SavedFiles> {
    const where = "save";
    return guardAsync("option", where, async () => {
      const given = readRecord(where, "options", options, ["names", "dtype", "adapter"]);
      const { adapter, ...rest } = given;
      const { adapters, paths } = this.#parts;
      if (adapter === undefined) return savedFiles(where, this.#parts, rest);
      if (isTrained(adapter)) return savedAdapter(where, adapter, paths);
      if (typeof adapter === "string") return new Map(adapters.filesOf(where, adapter));
      throw new HeedError("option", `${where}: adapter must be a name or what lora gives, got ${showValue(adapter)}`);
    });
  }

  /** Loads PEFT's `adapter_config.json` and `adapter_model.safetensors`. Calls choose it by its name; one of the same name goes. */
  loadAdapter(source: ModelSource, options: AdapterOptions): Promise<LoadedAdapter> {
    const where = "loadAdapter";
    return guardAsync("load", where, async () => {
      const given = readRecord(where, "options", options, ["name", "signal"]);
      const { name } = given;
      if (typeof name !== "string" || name === "") {
        throw new HeedError("option", `${where}: name must be a text, got ${showValue(name)}`);
      }
      const signal = readSignal(where, given["signal"]);
      const files = await filesOf(where, source, { signal, isKept: false, report: () => {} });
      return this.#parts.adapters.load(where, files, name, signal);
    });
  }

  /** Takes an adapter away and frees it. */
  removeAdapter(name: string): void {
    this.#parts.adapters.remove(name);
  }

  /** Frees all of it, once the passes under way have ended. */
  dispose(): void {
    this.model.dispose();
    this.#parts.head?.dispose();
    for (const layer of this.#parts.dense) layer.dispose();
    this.#parts.adapters.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  #now(): ModelParts {
    return { ...this.#parts, tokenizer: this.tokenizer };
  }
}
