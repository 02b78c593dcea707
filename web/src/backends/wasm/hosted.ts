// Loads the binaries and the worker of heed/assets from the files next to it. In that entry the build replaces inlined.ts by this file.
// Addresses and workers are written in the form that bundlers recognise, so that they emit the files.

import { workerKind } from "../../platform/features.js";
import { currentHost } from "../../platform/host.js";
import { type AnyWorker, fileWorker } from "./any-worker.js";
import { compileFile } from "./given-binary.js";
import type { Variant, VariantTable } from "./variants.js";

/** The build replaces it by `import.meta.url` after bundling. Written earlier, the bundler would inline the files. */
declare const HEED_MODULE_URL: string;

const CORE: VariantTable = {
  "wasm-simd": async () => ({
    ...(await import("./generated/glue/wasm-simd.js")),
    binary: new URL("./assets/wasm-simd.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed": async () => ({
    ...(await import("./generated/glue/wasm-relaxed.js")),
    binary: new URL("./assets/wasm-relaxed.wasm", HEED_MODULE_URL),
  }),
  "wasm-simd-threads": async () => ({
    ...(await import("./generated/glue/wasm-simd-threads.js")),
    binary: new URL("./assets/wasm-simd-threads.wasm", HEED_MODULE_URL),
  }),
  "wasm-relaxed-threads": async () => ({
    ...(await import("./generated/glue/wasm-relaxed-threads.js")),
    binary: new URL("./assets/wasm-relaxed-threads.wasm", HEED_MODULE_URL),
  }),
};

/** Of the core module, which every page loads, and what loads those of the others. */
export const MODULES = { core: CORE, more: () => import("./inlined-more.js") };

export function compileOwn(binary: Variant["binary"]): Promise<WebAssembly.Module> {
  return compileFile(String(binary));
}

export function ownWorker(): AnyWorker {
  // Not written out: bundlers would emit a second copy, for a page that has no use for it.
  if (workerKind(currentHost()) === "node") return fileWorker(`${HEED_MODULE_URL}/../assets/worker.js`);
  return new Worker(new URL("./assets/worker.js", HEED_MODULE_URL), { type: "module", name: "heed" }) as AnyWorker;
}
