// What the header of a GGUF file says of its model: configuration, tokenizer, and what becomes of each tensor.

import { showValue } from "../../base/describe.js";
import type { ArrivingTensor } from "../io/arriving-tensor.js";
import type { EntryBytes } from "../io/read-entries.js";
import type { ModelConfig } from "../models/config.js";
import { type Architecture, architectureOf, ModelFile } from "./architecture.js";
import type { GgufEntry, GgufLayout } from "./header.js";
import { rowsOfHead, separated } from "./interleaved.js";
import { Metadata } from "./metadata.js";
import { renamed } from "./names.js";
import { llama3Of, ROPE_FACTORS } from "./rope-factors.js";
import type { TensorReading } from "./tensor.js";
import type { TokenizerJson } from "./tokenizer/token-list.js";
import { tokenizerOf } from "./tokenizer/tokenizer.js";

export class ModelReader {
  readonly chatTemplate: string | null;
  readonly tokenizer: TokenizerJson | null;
  readonly #metadata: Metadata;
  readonly #architecture: Architecture;
  /** The published names of the tensors, in the order of the file. */
  readonly names: readonly string[];
  #config: ModelConfig;
  #isComplete: boolean;

  constructor(where: string, { metadata, entries }: GgufLayout, wantsTokenizer: boolean) {
    this.#metadata = new Metadata(where, metadata);
    const parts = this.#metadata.whole("split.count") ?? 1;
    if (parts > 1) throw this.#metadata.unsupported("a model must be in one file", `one of ${parts}`);
    const file = new ModelFile(this.#metadata, entries);
    this.#architecture = architectureOf(file);
    for (const { name } of entries) {
      if (name !== ROPE_FACTORS && this.#nameOf(name) === undefined) {
        throw this.#metadata.unsupported(`a ${file.name} must have no tensor of a kind that heed does not know`, name);
      }
    }
    const named = entries.filter(({ name }) => name !== ROPE_FACTORS);
    this.names = named.map(({ name }) => this.#nameOf(name) ?? name);
    this.#isComplete = named.length === entries.length;
    this.#config = this.#architecture.config(file);
    this.tokenizer = wantsTokenizer ? tokenizerOf(this.#metadata) : null;
    this.chatTemplate = this.#metadata.text("tokenizer.chat_template") ?? null;
  }

  get config(): ModelConfig {
    return this.#config;
  }

  /** Whether the configuration has all that tensors say of it. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** A tensor under its published name, its rows in the published order, read by `read`; null for what went into the configuration. */
  async take<Tensor>(
    entry: GgufEntry,
    bytes: EntryBytes,
    read: TensorReading<Tensor>,
  ): Promise<[string, ArrivingTensor<Tensor>] | null> {
    const { where } = this.#metadata;
    if (entry.name === ROPE_FACTORS) {
      const base = this.#config.rope_parameters?.rope_theta ?? 10000;
      const rope_parameters = llama3Of(where, entry.type.dequantize(await bytes.all()), base);
      this.#config = { ...this.#config, rope_parameters };
      this.#isComplete = true;
      return null;
    }
    const field = this.#architecture.interleaved[entry.name.replace(/\.\d+\./, ".*.").replace(/\.(weight|bias)$/, "")];
    const heads = field === undefined ? undefined : this.#config[field];
    const what = `${where}: tensor ${showValue(entry.name)}`;
    const inHead = heads ? rowsOfHead(what, entry.shape[0] ?? 1, heads, bytes.size) : 0;
    const make = (part: Uint8Array<ArrayBuffer>, shape: readonly number[]): Tensor =>
      read(where, { ...entry, shape }, inHead > 0 ? separated(part, shape[0] ?? 1, inHead) : part);
    return [this.#nameOf(entry.name) ?? entry.name, { shape: entry.shape, bytes, make, together: inHead || 1 }];
  }

  #nameOf(name: string): string | undefined {
    return renamed(this.#architecture.names, name);
  }
}
