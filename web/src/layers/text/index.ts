// Text for models: tokenizers out of the files that come with them.

export { type DecodeOptions, type EncodeOptions, type Encoding, loadTokenizer, Tokenizer } from "./tokenizer.js";
