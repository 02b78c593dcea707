// heed/layers: layers and models for inference, model files, tokenizers, generation. Importing it does nothing.

export { AdditiveAttention, type AdditiveAttentionOptions, type AdditiveForwardOptions } from "./additive-attention.js";
export { Embedding, type EmbeddingOptions, type IndexInput } from "./embedding.js";
export type { WeightFormat } from "./formats/format.js";
export type { ParameterTensor, StoredTensor } from "./formats/stored.js";
export {
  type BeamOptions,
  type BeamResult,
  beamSearch,
  type GenerateOptions,
  greedy,
  type NextBeamLogits,
  type NextLogits,
  type SampleOptions,
  sample,
  streamGreedy,
  streamSample,
} from "./generate/index.js";
export {
  type GgufHeader,
  type GgufModel,
  type GgufOptions,
  type GgufTensor,
  type GgufValue,
  loadGguf,
  readGgufHeader,
  streamGguf,
} from "./gguf/index.js";
export { GRU, type GRUForwardOptions, type GRUOptions, type GRUResult } from "./gru.js";
export { fromKerasAttention } from "./import-keras.js";
export { fromTorchAttention } from "./import-torch.js";
export {
  type EntryOptions,
  type FileArray,
  type FileDType,
  type FileHeader,
  type FileSource,
  type FileTensor,
  type LoadOptions,
  type LoadProgress,
  loadSafetensors,
  loadSafetensorsShards,
  readSafetensorsHeader,
  type ShardOptions,
  saveSafetensors,
  streamSafetensors,
  type TensorToSave,
} from "./io/index.js";
export {
  type Forwarded,
  type ForwardOptions,
  type InitOptions,
  Layer,
  type LayerOptions,
  type LoadWeightsOptions,
  type NoOptions,
  type Returned,
} from "./layer.js";
export { Linear, type LinearForwardOptions, type LinearLayerOptions } from "./linear.js";
export { MLP, type MLPActivation, type MLPOptions } from "./mlp.js";
export type { LayerDescription, ModelDescription } from "./model-description.js";
export { BertModel, DistilBertModel, MPNetModel, RobertaModel } from "./models/bert.js";
export type { CausalForwardOptions, CausalResult } from "./models/causal.js";
export type { ModelConfig, ModelOptions, RopeConfig } from "./models/config.js";
export type {
  EncoderForwardOptions as BertForwardOptions,
  EncoderForwardOptions,
  EncoderResult as BertResult,
  EncoderResult,
} from "./models/encoder-model.js";
export { EmbeddingGemmaModel, Gemma3Model } from "./models/gemma3.js";
export { GPT2Model } from "./models/gpt2.js";
export { LlamaModel } from "./models/llama.js";
export { ModernBertModel } from "./models/modernbert.js";
export { Qwen2Model, Qwen3Model } from "./models/qwen.js";
export { SmolLM3Model } from "./models/smollm3.js";
export type { TokenInput } from "./models/tokens.js";
export {
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
  type MultiHeadForwardOptions,
} from "./multi-head-attention.js";
export { LayerNorm, type LayerNormOptions, type NormOptions, RMSNorm } from "./norm.js";
export type { Drawing, LayerParameter, ParameterRule } from "./parameter-rule.js";
export { Pooling, type PoolingForwardOptions, type PoolingOptions } from "./pooling.js";
export { dequantize, quantize, type RoundedFormat } from "./quantize.js";
export type { ParameterInput, ParameterMap, ParameterSource } from "./read-parameters.js";
export { Sequential, type Step } from "./sequential.js";
export {
  type DecodeOptions,
  Decoder,
  type EncodeOptions,
  Encoder,
  EncoderDecoder,
  type EncoderDecoderForwardOptions,
  type EncoderDecoderOptions,
  type EncoderDecoderResult,
  type StackForwardOptions,
  type StackOptions,
  type StackResult,
} from "./stacks.js";
export type { Weights } from "./taking.js";
export {
  type DecodeOptions as TextDecodeOptions,
  type EncodeOptions as TextEncodeOptions,
  type Encoding,
  loadTokenizer,
  Tokenizer,
} from "./text/index.js";
export {
  type BlockAttentions,
  type BlockForwardOptions,
  type BlockResult,
  type InnerAttentionOptions,
  TransformerBlock,
  type TransformerBlockOptions,
} from "./transformer-block.js";
export type { AttentionChoice, HeadHook, Hooks, Replacement, Rewrite, WatchOptions } from "./watch.js";
