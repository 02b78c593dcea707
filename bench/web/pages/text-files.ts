// The files of a MiniLM with random weights, and texts for it whose words are all in its vocabulary.

import { uniform } from "./inputs.js";
import type { ModelShape } from "./model-shapes.js";

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const wordOf = (at: number): string => `w${at}`;

/** Texts of 7 to 58 words, as notes have: 300 of them, or some for a small model. */
export function notesOf({ words, layers }: ModelShape): string[] {
  const next = uniform(7);
  return Array.from({ length: layers === 1 ? 8 : 300 }, () =>
    Array.from({ length: 7 + Math.floor(52 * next()) }, () =>
      wordOf(Math.floor(next() * (words - SPECIAL.length))),
    ).join(" "),
  );
}

export function tokenizerOf({
  words,
}: ModelShape): Readonly<Record<"tokenizer.json" | "tokenizer_config.json", string>> {
  const all = [...SPECIAL, ...Array.from({ length: words - SPECIAL.length }, (_, at) => wordOf(at))];
  const special = (content: string) => ({ content, id: SPECIAL.indexOf(content) });
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const [cls, sep] = [special("[CLS]"), special("[SEP]")];
  const piece = (name: string, type: number) => ({ SpecialToken: { id: name, type_id: type } });
  const sequence = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content) => ({ ...special(content), ...flags })),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [piece("[CLS]", 0), sequence("A", 0), piece("[SEP]", 0)],
      pair: [piece("[CLS]", 0), sequence("A", 0), piece("[SEP]", 0), sequence("B", 1), piece("[SEP]", 1)],
      special_tokens: Object.fromEntries(
        [cls, sep].map(({ content, id }) => [content, { id: content, ids: [id], tokens: [content] }]),
      ),
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(all.map((word, id) => [word, id])),
    },
  };
  const config = {
    tokenizer_class: "BertTokenizer",
    do_lower_case: true,
    model_max_length: 512,
    pad_token: "[PAD]",
    unk_token: "[UNK]",
    cls_token: "[CLS]",
    sep_token: "[SEP]",
    mask_token: "[MASK]",
  };
  return { "tokenizer.json": JSON.stringify(tokenizer), "tokenizer_config.json": JSON.stringify(config) };
}
