// Brings arguments of the caller into a pass.

import { readTensor } from "../api/operands.js";
import type { TensorLike } from "../api/options.js";
import { Tensor } from "../api/tensor.js";
import type { Backend } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { fromF16 } from "../base/f16.js";
import { isRecord } from "../base/read-values.js";

/** Where arguments are brought to. */
interface Taking {
  readonly backend: Backend;
  upload(data: Float32Array, shape: readonly number[]): Tensor;
}

/** A tensor of any engine or any copy of heed, whose numbers can be read. */
export interface Readable {
  read(): Promise<Float32Array>;
  readonly shape: readonly number[];
}

export function isReadable(value: unknown): value is Readable {
  if (!isRecord(value) || typeof value["read"] !== "function") return false;
  if (Array.isArray(value["shape"])) return true;
  throw new HeedError("dtype", `heed/layers: a tensor must have a shape, got ${showValue(value["shape"])}`);
}

/** A tensor in the engine of the pass, as f32. Arrays are read before this returns. */
export function take(scope: Taking, where: string, name: string, value: unknown): Tensor | Promise<Tensor> {
  const isHere = Tensor.is(value) && value.location === "wasm" && Tensor.isOf(value, scope.backend);
  if (isHere && value.dtype === "f32") return value;
  return isReadable(value) ? read(scope, where, name, value) : upload(scope, where, name, value);
}

async function read(scope: Taking, where: string, name: string, tensor: Readable): Promise<Tensor> {
  const whole: TensorLike = { data: await tensor.read(), shape: tensor.shape };
  return upload(scope, where, name, whole);
}

function upload(scope: Taking, where: string, name: string, value: unknown): Tensor {
  const { source, shape } = readTensor(where, name, value, null);
  if (source.kind !== "array" || source.array instanceof Uint8Array) throw new TypeError("numbers were read");
  const { array } = source;
  return scope.upload(array instanceof Uint16Array ? fromF16(array) : array, shape);
}
