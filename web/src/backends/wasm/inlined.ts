// The binaries and the worker of the default entry are inlined in the package. Each variant is behind its own dynamic import, so
// that bundlers split it off and only the chosen one is loaded.

import type { VariantName } from "../../platform/select.js";
import { type AnyWorker, scriptWorker } from "./any-worker.js";
import { workerSource } from "./generated/worker-source.js";
import type { Variant } from "./variants.js";

type Inlined = Readonly<Record<VariantName, () => Promise<Variant & { readonly binary: string }>>>;

const CORE: Inlined = {
  "wasm-simd": () => import("./generated/wasm-simd.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads.js"),
};

const FULL: Inlined = {
  "wasm-simd": () => import("./generated/wasm-simd-full.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed-full.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-full.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads-full.js"),
};

const TRAINING: Inlined = {
  "wasm-simd": () => import("./generated/wasm-simd-training.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed-training.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads-training.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads-training.js"),
};

export const MODULES = { core: CORE, full: FULL, training: TRAINING };

export function ownWorker(): AnyWorker {
  return scriptWorker(workerSource);
}
