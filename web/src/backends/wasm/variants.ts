// The types of the four artefacts: glue and a binary. inlined.ts and hosted.ts say where they are loaded from.

import type { VariantName } from "../../platform/select.js";
import type { ModuleName } from "../backend.js";
import type { MainModule } from "./generated/kernels.js";

/** Options of the glue, which never fetches, and makes its own memory unless it is given one. */
export interface GlueOptions {
  readonly instantiateWasm: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => object;
  readonly wasmMemory?: WebAssembly.Memory;
}

/** Exports that only builds for shared memory have. */
export interface PoolModule {
  _heed_post(worker: number, call: number, workers: number): void;
  _heed_mailbox(worker: number): number;
  _heed_lose(worker: number): void;
  /** Tests call it. */
  _heed_tasks_done(worker: number): number;
}

export type FrontModule = MainModule & Partial<PoolModule>;

/** A generated module with Emscripten's glue. */
export interface Glue {
  readonly default: (options: GlueOptions) => Promise<FrontModule>;
  /** Size in pages of the memory that the binary imports; null when it makes its own. */
  readonly importedMemory: { readonly initial: number; readonly maximum: number } | null;
}

export interface Variant extends Glue {
  /** Its text, its address, or what the runtime has compiled. */
  readonly binary: string | URL | WebAssembly.Module;
}

/** The module to run for each variant. */
export type VariantTable = Readonly<Record<VariantName, () => Promise<Variant>>>;

/** The same where binaries are text. */
export type InlinedTable = Readonly<Record<VariantName, () => Promise<Variant & { readonly binary: string }>>>;

/** The table of the core module, and what loads those of the others. */
export interface ModuleTables {
  readonly core: VariantTable;
  more(): Promise<Readonly<Record<Exclude<ModuleName, "core">, VariantTable>>>;
}
