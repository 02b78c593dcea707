// A Llama with random weights as a GGUF file, and texts of as many tokens as one likes for it: every character from U+20000 on is a token.

import type { quantize } from "heed/layers";
import { configOf, type ModelShape, parametersOf, Weights } from "../model-shapes.js";
import { encodeGguf, type GgufTensor, type GgufValue } from "./encode.js";

export type GgufFormat = "f16" | "int8" | "int4";

/** In the file's table of tokens: unknown, the beginning, the end, the bytes, characters. */
const FIRST_CHARACTER = 259;
const CHARACTERS = 0x20000;
/** The kinds of tokens. */
const [NORMAL, UNKNOWN, CONTROL] = [1, 2, 3];

/** A text of so many tokens, the first of which begins every text. Texts of different `seed` differ from their second token on. */
export const textOf = ({ words }: ModelShape, tokens: number, seed = 0): string =>
  Array.from({ length: tokens - 1 }, (_, at) =>
    String.fromCodePoint(CHARACTERS + ((seed + at * 37) % (words - FIRST_CHARACTER))),
  ).join("");

export function llamaFile(shape: ModelShape, format: GgufFormat, rounded: typeof quantize): Blob {
  const stored = new Map<string, Uint8Array<ArrayBuffer>>();
  const tensors: GgufTensor[] = [];
  for (const [published, tensor] of parametersOf(shape, new Weights(shape))) {
    const isMatrix = tensor.shape.length === 2;
    tensors.push({
      name: `${nameOf(published)}.weight`,
      shape: tensor.shape,
      type: isMatrix ? format : "f32",
      data: isMatrix ? once(stored, String(tensor.shape), () => bytesOf(rounded(tensor, format))) : bytesOf(tensor),
    });
  }
  return encodeGguf({ ...architectureOf(shape), ...tokenizerOf(shape) }, tensors);
}

/** All matrices of a shape have the same random numbers. */
function once<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

function bytesOf({ data }: { readonly data: ArrayBufferView }): Uint8Array<ArrayBuffer> {
  return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
}

const NAMES: readonly (readonly [published: RegExp, own: string])[] = [
  [/^model\.embed_tokens/, "token_embd"],
  [/^model\.norm/, "output_norm"],
  [/^model\.layers\./, "blk."],
  [/input_layernorm/, "attn_norm"],
  [/post_attention_layernorm/, "ffn_norm"],
  [/self_attn\.o_proj/, "attn_output"],
  [/self_attn\.(.)_proj/, "attn_$1"],
  [/mlp\.(.*)_proj/, "ffn_$1"],
  [/\.weight$/, ""],
];

const nameOf = (published: string): string =>
  NAMES.reduce((name, [pattern, own]) => name.replace(pattern, own), published);

function architectureOf(shape: ModelShape): Record<string, GgufValue> {
  const { dim, layers, heads, kvHeads, hidden } = shape;
  return {
    "general.architecture": { text: "llama" },
    "general.name": { text: "random" },
    "llama.context_length": { u32: Number(configOf(shape).max_position_embeddings) },
    "llama.embedding_length": { u32: dim },
    "llama.block_count": { u32: layers },
    "llama.feed_forward_length": { u32: hidden },
    "llama.attention.head_count": { u32: heads },
    "llama.attention.head_count_kv": { u32: kvHeads },
    "llama.attention.layer_norm_rms_epsilon": { f32: 1e-5 },
    "llama.rope.dimension_count": { u32: dim / heads },
    "llama.rope.freq_base": { f32: 10000 },
  };
}

function tokenizerOf({ words }: ModelShape): Record<string, GgufValue> {
  const bytes = Array.from({ length: 256 }, (_, at) => `<0x${at.toString(16).toUpperCase().padStart(2, "0")}>`);
  const count = words - FIRST_CHARACTER;
  const characters = Array.from({ length: count }, (_, at) => String.fromCodePoint(CHARACTERS + at));
  // Random weights choose any token, and wllama refuses a text of bytes that is no UTF-8: so bytes are tokens as all others.
  const types = [UNKNOWN, CONTROL, CONTROL, ...bytes.map(() => NORMAL), ...characters.map(() => NORMAL)];
  return {
    "tokenizer.ggml.model": { text: "llama" },
    "tokenizer.ggml.tokens": { texts: ["<unk>", "<s>", "</s>", ...bytes, ...characters] },
    "tokenizer.ggml.scores": { f32s: types.map((_, at) => -at) },
    "tokenizer.ggml.token_type": { i32s: types.map((type = NORMAL) => type) },
    "tokenizer.ggml.bos_token_id": { u32: 1 },
    "tokenizer.ggml.eos_token_id": { u32: 2 },
    "tokenizer.ggml.unknown_token_id": { u32: 0 },
    "tokenizer.ggml.add_bos_token": { flag: true },
    "tokenizer.ggml.add_eos_token": { flag: false },
    "tokenizer.ggml.add_space_prefix": { flag: false },
  };
}
