// The binaries of Cloudflare Workers are modules, because the runtime compiles them itself and refuses to compile bytes. For that entry the
// build replaces inlined.ts by this file. A Worker is loaded whole, so there are as few binaries as have everything.

import type { Glue, Variant, VariantTable } from "./variants.js";

const CORE = table({
  "wasm-simd": [() => import("./generated/glue/wasm-simd.js"), () => import("./assets/wasm-simd.wasm")],
  "wasm-relaxed": [() => import("./generated/glue/wasm-relaxed.js"), () => import("./assets/wasm-relaxed.wasm")],
});

const TRAINING = table({
  "wasm-simd": [
    () => import("./generated/glue/wasm-simd-training.js"),
    () => import("./assets/wasm-simd-training.wasm"),
  ],
  "wasm-relaxed": [
    () => import("./generated/glue/wasm-relaxed-training.js"),
    () => import("./assets/wasm-relaxed-training.wasm"),
  ],
});

const NARROW = table({
  "wasm-simd": [() => import("./generated/glue/wasm-simd-narrow.js"), () => import("./assets/wasm-simd-narrow.wasm")],
  "wasm-relaxed": [
    () => import("./generated/glue/wasm-relaxed-narrow.js"),
    () => import("./assets/wasm-relaxed-narrow.wasm"),
  ],
});

/** Training's module has every operation of the full one. */
export const MODULES = { core: CORE, more: async () => ({ full: TRAINING, training: TRAINING, narrow: NARROW }) };

export async function compileOwn(binary: Variant["binary"]): Promise<WebAssembly.Module> {
  return binary as WebAssembly.Module;
}

export function ownWorker(): never {
  throw new Error("there are no threads");
}

type Parts = readonly [glue: () => Promise<Glue>, binary: () => Promise<{ readonly default: WebAssembly.Module }>];

function table(variants: Readonly<Record<"wasm-simd" | "wasm-relaxed", Parts>>): VariantTable {
  const load = (name: keyof typeof variants) => async (): Promise<Variant> => {
    const [glue, binary] = await Promise.all([variants[name][0](), variants[name][1]()]);
    return { default: glue.default, importedMemory: glue.importedMemory, binary: binary.default };
  };
  return {
    "wasm-simd": load("wasm-simd"),
    "wasm-relaxed": load("wasm-relaxed"),
    "wasm-simd-threads": async () => ownWorker(),
    "wasm-relaxed-threads": async () => ownWorker(),
  };
}
