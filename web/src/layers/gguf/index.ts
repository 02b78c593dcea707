// Model files: loading GGUF.

export {
  type GgufHeader,
  type GgufModel,
  type GgufOptions,
  loadGguf,
  readGgufHeader,
  streamGguf,
} from "./load.js";
export type { GgufTensor } from "./tensor.js";

export type { GgufValue } from "./values.js";
