// heed/text: tokenizers and chat templates, from the files that are published with models. Importing it does nothing.

export { type ChatOptions, type Message, renderChat } from "./chat-template.js";
export type { DecodeStream } from "./decode-stream.js";
export type { JinjaModule, JinjaSource } from "./jinja.js";
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
