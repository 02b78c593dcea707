// BERT's WordPiece. Files mark the start of words, where published vocabularies mark what goes on with ##.

import { CONTROL, type TokenizerJson, type TokenList } from "./token-list.js";

const START = "\u2581";
const PART = "##";

export function wordPiece(tokens: TokenList): TokenizerJson {
  const [unknown, first, last] = [
    tokens.idOf("unknown"),
    tokens.idOf("cls") ?? tokens.idOf("bos"),
    tokens.idOf("seperator"),
  ];
  const textOf = (text: string, id: number): string => {
    if (text.startsWith(START)) return text.slice(START.length);
    const isSpecial = tokens.typeOf(id) === CONTROL || id === unknown || /^\[.*\]$/u.test(text);
    return isSpecial ? text : PART + text;
  };
  const vocab = tokens.vocabulary(textOf);
  // Files do not say whether texts are made lower case. Vocabularies of such texts have no capitals.
  const lowercase = !tokens.texts.some((text) => text.startsWith(START) && /\p{Lu}/u.test(text));
  return {
    added_tokens: tokens.added(),
    normalizer: { type: "BertNormalizer", lowercase },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: tokens.template(first, last),
    decoder: { type: "WordPiece", prefix: PART },
    model: { type: "WordPiece", vocab, unk_token: tokens.textOf(unknown) ?? "[UNK]", continuing_subword_prefix: PART },
  };
}
