// What rope and linear attention return: arrays, or tensors in the engine.

import type { Backend } from "../../backends/backend.js";
import { HeedError } from "../errors.js";
import { type ArrayTensor, Tensor } from "../tensor.js";

export function resultOf(
  home: Backend,
  data: Float32Array,
  shape: readonly number[],
  keep: boolean,
): ArrayTensor | Tensor {
  return keep ? new Tensor(home, home.upload(data), shape) : { data, shape, dtype: "f32" };
}

export function throwIfAborted(where: string, signal: AbortSignal | null): void {
  if (signal?.aborted !== true) return;
  throw new HeedError("aborted", `${where}: the signal was aborted before the call`, { cause: signal.reason });
}
