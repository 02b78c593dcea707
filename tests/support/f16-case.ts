// A problem with its tensors rounded to f16, and those tensors as f16. Needs no test runner.

import { fromF16, toF16 } from "../../web/src/base/f16.js";
import type { TensorLike } from "../../web/src/index.js";
import type { Case } from "./cases.js";

export function f16Case({ query, key, value, ...one }: Case) {
  const bits = ({ data }: TensorLike): Uint16Array => toF16(data as Float32Array<ArrayBuffer>);
  const rounded = (tensor: TensorLike): TensorLike => ({ ...tensor, data: fromF16(bits(tensor)) });
  const f16 = (tensor: TensorLike) => ({ data: bits(tensor), shape: tensor.shape, dtype: "f16" as const });
  const same: Case = { ...one, query: rounded(query), key: rounded(key), value: rounded(value) };
  return {
    rounded: same,
    inputs: { query: f16(query), key: f16(key), value: f16(value) },
  };
}
