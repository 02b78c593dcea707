// Tokenizers, from the files that are published with models.

export { type DecodeOptions, type EncodeOptions, type Encoding, loadTokenizer, Tokenizer } from "./tokenizer.js";
