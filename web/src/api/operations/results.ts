// What rope, linear attention and relative positions return: arrays, or tensors in the engine.

import type { Backend, Computed } from "../../backends/backend.js";
import { returned } from "../results.js";
import { type ArrayTensor, Tensor } from "../tensor.js";

export function arrayResult(
  backend: Backend,
  data: Float32Array,
  shape: readonly number[],
  keep: boolean,
): ArrayTensor | Tensor {
  return keep ? new Tensor(backend, backend.upload(data), shape) : { data, shape, dtype: "f32" };
}

/** The results of an operation with so many of them, in order. */
export function returnedAll<S extends readonly (readonly number[])[]>(
  backend: Backend,
  computed: readonly Computed[],
  shapes: readonly [...S],
): { readonly [I in keyof S]: Tensor | ArrayTensor } {
  if (computed.length !== shapes.length) throw new TypeError(`an operation made ${computed.length} results`);
  // TypeScript does not see that `map` keeps the length.
  return computed.map((part, at) => returned(backend, part, shapes[at] ?? [])) as never;
}
