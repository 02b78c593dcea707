// The tokenizer of a GGUF file in the form of tokenizer.json.

import type { Metadata } from "../metadata.js";
import { byteLevel } from "./byte-level.js";
import { sentencePiece } from "./sentence-piece.js";
import { type TokenizerJson, TokenList } from "./token-list.js";
import { wordPiece } from "./word-piece.js";

/** By `tokenizer.ggml.model`. */
const KINDS: Readonly<Record<string, (tokens: TokenList) => TokenizerJson>> = {
  gpt2: byteLevel,
  llama: sentencePiece,
  bert: wordPiece,
};

/** Null where the file has none. */
export function tokenizerOf(metadata: Metadata): TokenizerJson | null {
  const kind = metadata.text("tokenizer.ggml.model") ?? "none";
  if (kind === "none" || kind === "no_vocab") return null;
  const make = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (make !== undefined) return make(new TokenList(metadata));
  throw metadata.unsupported(`tokenizer.ggml.model must be one of ${Object.keys(KINDS).join(", ")}`, kind);
}
