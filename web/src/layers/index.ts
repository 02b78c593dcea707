// heed/layers: what stands around attention in a model, forward.

export { AdditiveAttention, type AdditiveAttentionOptions } from "./additive-attention.js";
export { Embedding, type EmbeddingOptions, type IndexInput } from "./embedding.js";
export { GRU, type GRUForwardOptions, type GRUOptions, type GRUResult } from "./gru.js";
export { fromKerasAttention } from "./import-keras.js";
export { fromTorchAttention } from "./import-torch.js";
export { type ForwardOptions, Layer, type LayerOptions } from "./layer.js";
export { Linear, type LinearLayerOptions } from "./linear.js";
export { MLP, type MLPActivation, type MLPOptions } from "./mlp.js";
export {
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
  type MultiHeadForwardOptions,
} from "./multi-head-attention.js";
export { LayerNorm, type LayerNormOptions, type NormOptions, RMSNorm } from "./norm.js";
export type { ParameterMap, ParameterTensor } from "./parameters.js";
