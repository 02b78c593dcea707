// Public types of what calls take: arrays with shapes, and tensors.

import type { HalfArray } from "../base/typed-array.js";
import type { Tensor } from "./tensor.js";

/** The order of a tensor's axes: `bhnd` is [B, H, L, D], `bnhd` is [B, L, H, D], `packed` is [B, L, H*D]. */
export type Layout = "bhnd" | "bnhd" | "packed";

/** A dense row-major array and its shape. */
export interface TensorLike {
  readonly data: Float32Array;
  readonly shape: readonly number[];
  readonly dtype?: "f32" | "float32" | undefined;
}

/** An f16 array and its shape: a Float16Array, or a Uint16Array of its bits. Kernels widen it to f32 as they read it. */
export type HalfTensorLike =
  | { readonly data: HalfArray; readonly shape: readonly number[]; readonly dtype?: "f16" | "float16" | undefined }
  | { readonly data: Uint16Array; readonly shape: readonly number[]; readonly dtype: "f16" | "float16" };

/** What `attention` takes for query, key and value. Each may be f32 or f16. */
export type TensorInput = TensorLike | HalfTensorLike | Tensor;

/** A mask and its shape: 1 or true lets the query attend to the key. */
export interface MaskLike {
  readonly data: Uint8Array | readonly boolean[];
  readonly shape: readonly number[];
}

/** A mask with its shape, or bare values of exactly [L, S] or [B, H, L, S]. */
export type MaskInput = MaskLike | Uint8Array | readonly boolean[];

/** A bias with its shape, or bare values of exactly [L, S] or [B, H, L, S]. An f16 array is widened to f32; a heed tensor must be f32. */
export type BiasInput = TensorInput | Float32Array | HalfArray;

/** A list of numbers: an array, a typed array, or the data of a tensor. */
export type Numbers = ArrayLike<number> | TensorLike | HalfTensorLike;

/** Query, key and value as the caller gave them, not yet checked. */
export interface GivenTensors {
  readonly query: unknown;
  readonly key: unknown;
  readonly value: unknown;
}
