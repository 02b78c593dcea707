// heed/models: a model from its files, in one call. Importing it does nothing.

export type { Weights } from "../layers/taking.js";
export type { Message } from "../layers/text/chat-template.js";
export type { JinjaModule, JinjaSource } from "../layers/text/jinja.js";
export type { LoadedAdapter, TrainedAdapter } from "./adapters.js";
export type { ClassifyOptions, Label } from "./classify.js";
export type { EmbedOptions } from "./embed.js";
export type { ModelSource } from "./files.js";
export type { PromptProgress, TextOptions } from "./generate.js";
export type { Span } from "./label-spans.js";
export { type LoadModelOptions, loadModel } from "./load-model.js";
export { type AdapterOptions, LoadedModel, type SaveOptions } from "./loaded-model.js";
export type { Model, ModelForwardOptions, ModelResult } from "./model.js";
export { ModelCache, type ModelCacheOptions } from "./model-cache.js";
export type { FileProgress } from "./model-files.js";
export type { Prompt } from "./prompts.js";
export { type SavedFiles, type SaveModelOptions, saveModel } from "./save-model.js";
export type { TextOrPair } from "./text-batches.js";
export type { TextCodec } from "./text-codec.js";
export type { Piece } from "./text-writer.js";
