// Model files: loading and saving safetensors.

export type { FileSource } from "./byte-reader.js";
export type { FileArray, FileDType } from "./dtypes.js";
export {
  type FileHeader,
  type FileTensor,
  type LoadOptions,
  loadSafetensors,
  readSafetensorsHeader,
  streamSafetensors,
} from "./load-safetensors.js";
export { loadSafetensorsShards, type ShardOptions } from "./load-shards.js";
export type { EntryOptions, LoadProgress } from "./read-entries.js";
export { saveSafetensors, type TensorToSave } from "./save-safetensors.js";
