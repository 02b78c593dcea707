// The four artefacts, each behind its own dynamic import, so that only the chosen one is loaded and bundlers split it off.

import type { VariantName } from "../../platform/select.js";
import type { MainModule } from "./generated/kernels.js";

/** What the glue takes: it never fetches, and owns its memory unless it is given one. */
export interface GlueOptions {
  readonly instantiateWasm: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => object;
  readonly wasmMemory?: WebAssembly.Memory;
}

/** What builds for shared memory have beside the others. */
export interface PoolModule {
  /** Says that a helper is no more, so that nobody waits for its task. */
  _heed_lose(worker: number): void;
  _heed_tasks_done(worker: number): number;
}

export type FrontModule = MainModule & Partial<PoolModule>;

/** A generated module: Emscripten's glue and its binary. */
export interface Variant {
  readonly default: (options: GlueOptions) => Promise<FrontModule>;
  /** Base64. */
  readonly binary: string;
  /** Pages of the memory that the binary imports; null where it owns one. */
  readonly importedMemory: { readonly initial: number; readonly maximum: number } | null;
}

export const VARIANTS: Readonly<Record<VariantName, () => Promise<Variant>>> = {
  "wasm-simd": () => import("./generated/wasm-simd.js"),
  "wasm-relaxed": () => import("./generated/wasm-relaxed.js"),
  "wasm-simd-threads": () => import("./generated/wasm-simd-threads.js"),
  "wasm-relaxed-threads": () => import("./generated/wasm-relaxed-threads.js"),
};
