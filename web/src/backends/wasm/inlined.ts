// The binaries and the worker of the default entry are inlined in the package. Each variant is behind its own dynamic import, so
// that bundlers split it off and only the chosen one is loaded.

import type { VariantName } from "../../platform/select.js";
import { type AnyWorker, scriptWorker } from "./any-worker.js";
import { workerSource } from "./generated/worker-source.js";
import type { Variant, VariantTable } from "./variants.js";

export const VARIANTS: Readonly<Record<VariantName, () => Promise<Variant & { readonly binary: string }>>> = {
  "wasm-simd": () => import("./generated/wasm-simd.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads.js"),
};

/** The modules with rotary embedding and linear attention. */
export const EXTRA_VARIANTS: VariantTable = {
  "wasm-simd": () => import("./generated/wasm-simd-extra.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed-extra.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-extra.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads-extra.js"),
};

/** The modules with layers, which contain attention and the extra operations too. */
export const LAYERS_VARIANTS: VariantTable = {
  "wasm-simd": () => import("./generated/wasm-simd-layers.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed-layers.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-layers.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads-layers.js"),
};

export function ownWorker(): AnyWorker {
  return scriptWorker(workerSource);
}
