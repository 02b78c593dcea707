// heed/webgpu: autotunes the kernels of the GPU backend. Importing it does nothing.

import type { AutotuneOptions } from "./backends/webgpu/autotune.js";
import { rememberTuned, type Tuned, type Tuning } from "./backends/webgpu/tuning.js";
import { guard, guardAsync } from "./base/guard.js";

export type { AutotuneOptions, Tuned, Tuning };

/**
 * Measures which tiles are fastest for calls of these sizes on this machine's GPU. It takes some seconds, mostly for compiling. From
 * then on every engine of the page uses these tiles for such calls. The result is plain data, which a later visit can pass to
 * `remember` instead. Rejects with HeedError `unsupported` when there is no GPU, `option` or `memory`.
 */
export async function autotune(options: AutotuneOptions & { readonly device?: object } = {}): Promise<Tuned> {
  return guardAsync("option", "autotune: reading its options", async () => {
    const { device, ...sizes } = options;
    const { tuneOn } = await guardAsync("load", "autotune: loading its code", () => import("./gpu.js"));
    return tuneOn(device, sizes);
  });
}

/** Uses what `autotune` measured, perhaps in an earlier visit. It has no effect on other GPUs. */
export function remember(tuned: Tuned): void {
  guard("option", "remember: reading its argument", () => rememberTuned(tuned));
}
