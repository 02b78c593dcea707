// The modules beside the core one, inlined likewise.

import { hasRelaxedDot } from "../../platform/relaxed-dot.js";
import type { InlinedTable } from "./variants.js";

export const full: InlinedTable = {
  "wasm-simd": () => import("./generated/wasm-simd-full.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed-full.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-full.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads-full.js"),
};

export const training: InlinedTable = {
  "wasm-simd": () => import("./generated/wasm-simd-training.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed-training.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-training.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads-training.js"),
};

/** Without dot products of relaxed SIMD plain SIMD computes the same bits. */
export const narrow: InlinedTable = {
  "wasm-simd": () => import("./generated/wasm-simd-narrow.js"),
  "wasm-relaxed": () => (hasRelaxedDot() ? import("./generated/wasm-relaxed-narrow.js") : narrow["wasm-simd"]()),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-narrow.js"),
  "wasm-relaxed-threads": () =>
    hasRelaxedDot() ? import("./generated/wasm-relaxed-threads-narrow.js") : narrow["wasm-simd-threads"](),
};
