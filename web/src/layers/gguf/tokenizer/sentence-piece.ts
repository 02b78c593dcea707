// SentencePiece's byte pair encoding, as of Llama 2: tokens have scores, and the merge with the best score comes first.

import { NORMAL, type TokenizerJson, type TokenList } from "./token-list.js";

const SPACE = "\u2581";

export function sentencePiece(tokens: TokenList): TokenizerJson {
  const marksStart = tokens.metadata.flag("tokenizer.ggml.add_space_prefix") ?? true;
  const mark = { type: "Replace", pattern: { String: " " }, content: SPACE };
  const unmark = { type: "Replace", pattern: { String: SPACE }, content: " " };
  const decoders = [unmark, { type: "ByteFallback" }, { type: "Fuse" }];
  const start = { type: "Strip", content: " ", start: 1, stop: 0 };
  return {
    added_tokens: tokens.added(),
    normalizer: { type: "Sequence", normalizers: marksStart ? [{ type: "Prepend", prepend: SPACE }, mark] : [mark] },
    pre_tokenizer: null,
    post_processor: tokens.ends({ bos: true, eos: false }),
    decoder: { type: "Sequence", decoders: marksStart ? [...decoders, start] : decoders },
    model: {
      type: "BPE",
      vocab: tokens.vocabulary(),
      merges: mergesOf(tokens),
      unk_token: tokens.textOf(tokens.idOf("unknown")),
      fuse_unk: true,
      byte_fallback: true,
    },
  };
}

/** A limit on the characters that are looked at: each token is cut at each place. Published vocabularies take about 2^24. */
const MOST_COMPARED = 2 ** 28;

interface Merge {
  readonly parts: readonly [left: string, right: string];
  readonly score: number;
}

/** All pairs of tokens that make a token, the best first, longer left parts first among those of one score. */
function mergesOf(tokens: TokenList): readonly (readonly [string, string])[] {
  const scores = tokens.scores();
  const known = new Set(tokens.texts);
  const merges: Merge[] = [];
  let compared = 0;
  for (const [id, text] of tokens.texts.entries()) {
    if (tokens.typeOf(id) !== NORMAL) continue;
    compared += text.length ** 2;
    if (compared > MOST_COMPARED) {
      throw tokens.metadata.refusal(`tokens must be shorter, for at most ${MOST_COMPARED} comparisons`, text);
    }
    for (let at = 1; at < text.length; at++) {
      const parts = [text.slice(0, at), text.slice(at)] as const;
      if (known.has(parts[0]) && known.has(parts[1])) merges.push({ parts, score: scores[id] ?? 0 });
    }
  }
  merges.sort((a, b) => b.score - a.score || b.parts[0].length - a.parts[0].length);
  return merges.map(({ parts }) => parts);
}
