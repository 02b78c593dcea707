// What rope, linear attention and relative positions return: arrays, or tensors in the engine.

import type { Backend } from "../../backends/backend.js";
import { type ArrayTensor, Tensor } from "../tensor.js";

export function resultOf(
  backend: Backend,
  data: Float32Array,
  shape: readonly number[],
  keep: boolean,
): ArrayTensor | Tensor {
  return keep ? new Tensor(backend, backend.upload(data), shape) : { data, shape, dtype: "f32" };
}
