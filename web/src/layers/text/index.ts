// heed/text: tokenizers, from the files that are published with models. Importing it does nothing.

export type { DecodeStream } from "./decode-stream.js";
export {
  type DecodeOptions,
  type EncodeBatchOptions,
  type EncodeOptions,
  type Encoding,
  loadTokenizer,
  type TextInput,
  Tokenizer,
} from "./tokenizer.js";
export type { TruncationSide, TruncationStrategy } from "./truncation.js";
