// Gradients of relative positions, by code that is loaded at the first call.

import type { Heed } from "../api/heed.js";
import { hold } from "../api/hold.js";
import type { TensorLike } from "../api/options.js";
import type { ArrayTensor } from "../api/tensor.js";
import { guardAsync } from "../base/guard.js";
import { isRecord } from "../base/read-values.js";
import { LayerEngine } from "../layers/engine-of.js";
import type { RelativeBiasVjpOptions, RelativeKeysVjpOptions, RelativeValuesVjpOptions } from "./relative-options.js";

type Relative = typeof import("./relative-positions.js");

/** The gradient of a loss in the table of `relativeBias`. Rejects with a HeedError. */
export function relativeBiasVjp(
  table: TensorLike,
  options: RelativeBiasVjpOptions,
): Promise<{ readonly table: ArrayTensor }> {
  return run("relativeBiasVjp", [table], options);
}

/** The gradients of a loss in the queries and the table of `relativeKeys`. Rejects with a HeedError. */
export function relativeKeysVjp(
  q: TensorLike,
  table: TensorLike,
  options: RelativeKeysVjpOptions,
): Promise<{ readonly q: ArrayTensor; readonly table: ArrayTensor }> {
  return run("relativeKeysVjp", [q, table], options);
}

/** The gradients of a loss in the weights and the table of `relativeValues`. Rejects with a HeedError. */
export function relativeValuesVjp(
  weights: TensorLike,
  table: TensorLike,
  options: RelativeValuesVjpOptions,
): Promise<{ readonly weights: ArrayTensor; readonly table: ArrayTensor }> {
  return run("relativeValuesVjp", [weights, table], options);
}

/** Arrays are copied before this returns. */
function run<N extends keyof Relative>(
  name: N,
  given: readonly unknown[],
  all: unknown,
): Promise<Awaited<ReturnType<Relative[N]>>> {
  return guardAsync("option", `${name}: reading its arguments`, async () => {
    const { engine, ...rest } = isRecord(all) ? all : {};
    const { tensors, options } = hold({ tensors: given, options: rest });
    const of = name === "relativeBiasVjp" ? engine : new LayerEngine(name, engine as Heed | undefined);
    const module = await import("./relative-positions.js");
    // TypeScript does not see that these are the arguments of the function of that name.
    return Reflect.apply(module[name], null, [
      ...tensors,
      { ...(options as object), ...(of !== undefined && { engine: of }) },
    ]);
  });
}
