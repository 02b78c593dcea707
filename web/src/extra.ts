// What is loaded when something beside attention is first asked for: its API, and what computes it.

export { createCache } from "./api/cache/kv-cache.js";
export { linearAttention } from "./api/extra/linear-attention.js";
export { rope, ropeOnGpu } from "./api/extra/rope.js";
export { relativeKeys, relativeValues } from "./api/extra/shaw.js";
export { WasmExtra } from "./backends/wasm/wasm-extra.js";
