// The chunk that is loaded at the first call of an operation other than attention.

export { createCache } from "./api/cache/kv-cache.js";
export { attentionVjp } from "./api/extra/attention-vjp.js";
export { linearAttention } from "./api/extra/linear-attention.js";
export { linearAttentionVjp } from "./api/extra/linear-vjp.js";
export { rope } from "./api/extra/rope.js";
export { relativeKeys, relativeValues } from "./api/extra/shaw.js";
