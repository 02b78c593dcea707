// What the four artefacts are to TypeScript: glue, and a binary that it is given. Where they come from: inlined.ts, hosted.ts.

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
  _heed_post(worker: number, call: number, workers: number): void;
  _heed_door(worker: number): number;
  _heed_lose(worker: number): void;
  _heed_tasks_done(worker: number): number;
}

export type FrontModule = MainModule & Partial<PoolModule>;

/** A generated module: Emscripten's glue. */
export interface Glue {
  readonly default: (options: GlueOptions) => Promise<FrontModule>;
  /** Pages of the memory that the binary imports; null where it owns one. */
  readonly importedMemory: { readonly initial: number; readonly maximum: number } | null;
}

export interface Variant extends Glue {
  /** As text, or where it lies. */
  readonly binary: string | URL;
}

/** The module to run for each variant. */
export type VariantTable = Readonly<Record<VariantName, () => Promise<Variant>>>;
