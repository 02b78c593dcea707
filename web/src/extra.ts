// The chunk that is loaded at the first call of an operation other than attention.

export { createCache } from "./api/cache/kv-cache.js";
export { attentionVjp } from "./api/operations/attention-vjp.js";
export { linearAttention } from "./api/operations/linear-attention.js";
export { linearAttentionVjp } from "./api/operations/linear-vjp.js";
export { rope } from "./api/operations/rope.js";
export { relativeKeys, relativeValues } from "./api/operations/shaw.js";
