// Loads the front instance of a variant: imports it, compiles it, makes its memory, runs its glue. Any failure is a HeedError `load`.

import { causeText, HeedError } from "../../base/errors.js";
import type { VariantName } from "../../platform/select.js";
import { compileOwn } from "./inlined.js";
import { Kernels } from "./kernels.js";
import type { GlueOptions, Variant, VariantTable } from "./variants.js";

/** Maximum sizes of a shared memory to try, in pages of 64 KiB. Phones refuse to reserve 2 GiB of address space. */
const SHARED_MAXIMA = [32768, 16384, 4096];

/** `override` is the caller's compiled module, used in place of the package's binary. */
export async function loadKernels(
  variants: Promise<VariantTable>,
  name: VariantName,
  override: WebAssembly.Module | null,
): Promise<Kernels> {
  try {
    const variant = await (await variants)[name]();
    const compiled = override ?? (await compileOwn(variant.binary, name));
    return await instantiate(variant, compiled);
  } catch (cause) {
    if (cause instanceof HeedError) throw cause;
    throw new HeedError("load", `createHeed: cannot load ${name}: ${causeText(cause)}`, { cause });
  }
}

async function instantiate(variant: Variant, compiled: WebAssembly.Module): Promise<Kernels> {
  const shared = variant.importedMemory && sharedMemory(variant.importedMemory);
  let memory: unknown = shared;
  const start = async (...[imports, receive]: Parameters<GlueOptions["instantiateWasm"]>): Promise<void> => {
    const instance = await WebAssembly.instantiate(compiled, imports);
    memory = shared ?? instance.exports["memory"];
    receive(instance, compiled);
  };
  const raw = await new Promise<Awaited<ReturnType<Variant["default"]>>>((resolve, reject) => {
    const instantiateWasm: GlueOptions["instantiateWasm"] = (imports, receive) => {
      // The glue ignores a rejection, and its own promise would stay pending.
      start(imports, receive).catch(reject);
      return {};
    };
    variant
      .default(shared === null ? { instantiateWasm } : { instantiateWasm, wasmMemory: shared })
      .then(resolve, reject);
  });
  if (!(memory instanceof WebAssembly.Memory)) throw new Error("its memory is missing");
  return new Kernels(raw, compiled, memory);
}

function sharedMemory(pages: { readonly initial: number; readonly maximum: number }): WebAssembly.Memory {
  let refusal: unknown;
  for (const most of SHARED_MAXIMA) {
    try {
      const maximum = Math.max(pages.initial, Math.min(pages.maximum, most));
      return new WebAssembly.Memory({ initial: pages.initial, maximum, shared: true });
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}
