// A small model with a tokenizer of bytes, in the files that models are published in.

import { type ModelConfig, type ParameterTensor, saveSafetensors } from "../../web/src/layers/index.js";
import { enlarged, type ModelName } from "./model-files.js";

/** GPT-2's characters for bytes. */
function byteCharacters(): string[] {
  const isShown = (byte: number): boolean => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let hidden = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isShown(byte) ? byte : hidden++));
}

const SPECIAL = ["<s>", "</s>", "<turn>"];

/** Every byte is a token, and three special ones come after them. */
export const BYTES = {
  added_tokens: SPECIAL.map((content, at) => ({ id: 256 + at, content, special: true, normalized: false })),
  normalizer: null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
  post_processor: null,
  decoder: { type: "ByteLevel" },
  model: { type: "BPE", vocab: Object.fromEntries(byteCharacters().map((text, byte) => [text, byte])), merges: [] },
};

export const VOCABULARY = 256 + SPECIAL.length;
export const POSITIONS = 96;

export const json = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));

export interface Folder {
  readonly config: ModelConfig;
  readonly parameters: ReadonlyMap<string, ParameterTensor>;
  /** By name. */
  readonly files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
}

export function folderOf(name: ModelName): Folder {
  const { config, parameters } = enlarged(name, VOCABULARY, POSITIONS);
  return {
    config,
    parameters,
    files: {
      "config.json": json(config),
      "tokenizer.json": json(BYTES),
      "tokenizer_config.json": json({
        eos_token: { content: "</s>" },
        bos_token: "<s>",
        chat_template: "{{ unused }}",
      }),
      "model.safetensors": saveSafetensors(parameters),
    },
  };
}
