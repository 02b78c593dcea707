// Byte pair encoding over bytes, as of GPT-2, Llama 3, Qwen and SmolLM: files name the rule by which texts are cut into words.

import type { TokenizerJson, TokenList } from "./token-list.js";

interface Cutting {
  readonly pre_tokenizer: object;
  readonly normalizer?: object;
  /** Whether words that are tokens are not merged, and texts get a first token. */
  readonly isLlama3?: boolean;
}

const byBytes = (use_regex: boolean): object => ({ type: "ByteLevel", add_prefix_space: false, use_regex });
const sequence = (first: object, then: object): object => ({ type: "Sequence", pretokenizers: [first, then] });

/** `digits`: how many are a word. */
function byPattern(digits: string): object {
  const Regex =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" +
    `${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
  return sequence({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false }, byBytes(false));
}

const GPT2: Cutting = { pre_tokenizer: byBytes(true) };
const DIGITS: Cutting = { pre_tokenizer: sequence({ type: "Digits", individual_digits: true }, byBytes(true)) };
const LLAMA3: Cutting = { pre_tokenizer: byPattern("\\p{N}{1,3}"), isLlama3: true };
const QWEN2: Cutting = { pre_tokenizer: byPattern("\\p{N}"), normalizer: { type: "NFC" } };

/** By `tokenizer.ggml.pre`. */
const CUTTINGS = new Map<string, Cutting>([
  ["gpt-2", GPT2],
  ["olmo", GPT2],
  ["mpt", GPT2],
  ["smollm", DIGITS],
  ["starcoder", DIGITS],
  ["llama3", LLAMA3],
  ["llama-v3", LLAMA3],
  ["llama-bpe", LLAMA3],
  ["qwen2", QWEN2],
]);

export function byteLevel(tokens: TokenList): TokenizerJson {
  const pre = tokens.metadata.text("tokenizer.ggml.pre") ?? "default";
  const cutting = CUTTINGS.get(pre);
  if (cutting === undefined) {
    throw tokens.metadata.unsupported(`tokenizer.ggml.pre must be one of ${[...CUTTINGS.keys()].join(", ")}`, pre);
  }
  const { pre_tokenizer, normalizer = null, isLlama3 = false } = cutting;
  return {
    added_tokens: tokens.added(),
    normalizer,
    pre_tokenizer,
    post_processor: tokens.ends({ bos: isLlama3, eos: false }),
    decoder: { type: "ByteLevel" },
    model: { type: "BPE", vocab: tokens.vocabulary(), merges: tokens.merges(), ignore_merges: isLlama3 },
  };
}
