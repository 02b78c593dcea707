// Tensors of any engine or any copy of heed, whose numbers can be read.

import type { TensorLike } from "../api/options.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";

export interface Readable {
  read(): Promise<Float32Array>;
  readonly shape: readonly number[];
}

export function isReadable(value: unknown): value is Readable {
  if (!isRecord(value) || typeof value["read"] !== "function") return false;
  if (Array.isArray(value["shape"])) return true;
  throw new HeedError("dtype", `heed/layers: a tensor must have a shape, got ${showValue(value["shape"])}`);
}

/** Reads a tensor to an array, which any engine takes. */
export async function readWhole(tensor: Readable): Promise<TensorLike> {
  return { data: await tensor.read(), shape: tensor.shape };
}
