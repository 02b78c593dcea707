// What rope and linear attention return: arrays, or tensors in the engine.

import type { Backend } from "../../backends/backend.js";
import { type ArrayTensor, Tensor } from "../tensor.js";

export function resultOf(
  home: Backend,
  data: Float32Array,
  shape: readonly number[],
  keep: boolean,
): ArrayTensor | Tensor {
  return keep ? new Tensor(home, home.upload(data), shape) : { data, shape, dtype: "f32" };
}
