// The modules beside the core one, likewise from files.

import { hasRelaxedDot } from "../../platform/relaxed-dot.js";
import type { VariantTable } from "./variants.js";

/** As in hosted.ts. */
declare const HEED_MODULE_URL: string;

export const full: VariantTable = {
  "wasm-simd": async () => ({
    ...(await import("./generated/glue/wasm-simd-full.js")),
    binary: new URL("./assets/wasm-simd-full.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed": async () => ({
    ...(await import("./generated/glue/wasm-relaxed-full.js")),
    binary: new URL("./assets/wasm-relaxed-full.wasm", HEED_MODULE_URL),
  }),
  "wasm-simd-threads": async () => ({
    ...(await import("./generated/glue/wasm-simd-threads-full.js")),
    binary: new URL("./assets/wasm-simd-threads-full.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed-threads": async () => ({
    ...(await import("./generated/glue/wasm-relaxed-threads-full.js")),
    binary: new URL("./assets/wasm-relaxed-threads-full.wasm", HEED_MODULE_URL),
  }),
};

export const training: VariantTable = {
  "wasm-simd": async () => ({
    ...(await import("./generated/glue/wasm-simd-training.js")),
    binary: new URL("./assets/wasm-simd-training.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed": async () => ({
    ...(await import("./generated/glue/wasm-relaxed-training.js")),
    binary: new URL("./assets/wasm-relaxed-training.wasm", HEED_MODULE_URL),
  }),
  "wasm-simd-threads": async () => ({
    ...(await import("./generated/glue/wasm-simd-threads-training.js")),
    binary: new URL("./assets/wasm-simd-threads-training.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed-threads": async () => ({
    ...(await import("./generated/glue/wasm-relaxed-threads-training.js")),
    binary: new URL("./assets/wasm-relaxed-threads-training.wasm", HEED_MODULE_URL),
  }),
};

/** Without dot products of relaxed SIMD plain SIMD computes the same bits. */
export const narrow: VariantTable = {
  "wasm-simd": async () => ({
    ...(await import("./generated/glue/wasm-simd-narrow.js")),
    binary: new URL("./assets/wasm-simd-narrow.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed": async () => {
    if (!hasRelaxedDot()) return narrow["wasm-simd"]();
    return {
      ...(await import("./generated/glue/wasm-relaxed-narrow.js")),
      binary: new URL("./assets/wasm-relaxed-narrow.wasm", HEED_MODULE_URL),
    };
  },
  "wasm-simd-threads": async () => ({
    ...(await import("./generated/glue/wasm-simd-threads-narrow.js")),
    binary: new URL("./assets/wasm-simd-threads-narrow.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed-threads": async () => {
    if (!hasRelaxedDot()) return narrow["wasm-simd-threads"]();
    return {
      ...(await import("./generated/glue/wasm-relaxed-threads-narrow.js")),
      binary: new URL("./assets/wasm-relaxed-threads-narrow.wasm", HEED_MODULE_URL),
    };
  },
};
