// The binaries and the worker of the default entry are inlined in the package. Each variant is behind its own dynamic import, so
// that bundlers split it off and only the chosen one is loaded.

import { type AnyWorker, scriptWorker } from "./any-worker.js";
import { compileText } from "./binary.js";
import { workerSource } from "./generated/worker-source.js";
import type { InlinedTable, Variant } from "./variants.js";

const CORE: InlinedTable = {
  "wasm-simd": () => import("./generated/wasm-simd.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads.js"),
};

/** Of the core module, which every page loads, and what loads those of the others. */
export const MODULES = { core: CORE, more: () => import("./inlined-more.js") };

export function compileOwn(binary: Variant["binary"], name: string): Promise<WebAssembly.Module> {
  return compileText(String(binary), name);
}

export function ownWorker(): AnyWorker {
  return scriptWorker(workerSource);
}
