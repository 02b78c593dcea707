// The options of the gradients of relative positions: public types.

import type { Heed } from "../api/heed.js";
import type { RelativeKeysOptions, RelativeValuesOptions } from "../api/operations/options.js";
import type { TensorLike } from "../api/options.js";
import type { RelativeBiasOptions } from "../api/positions/relative-bias.js";

interface OfResult {
  /** The gradient of the loss in the result, in its shape. */
  readonly outputGradient: TensorLike;
}

export interface OnEngine extends OfResult {
  /** Default the one that the function `attention` uses. */
  readonly engine?: Heed | undefined;
}

/** Those of `relativeBias`. */
export interface RelativeBiasVjpOptions extends RelativeBiasOptions, OfResult {}

/** Those of `relativeKeys`. */
export interface RelativeKeysVjpOptions extends Omit<RelativeKeysOptions, "length" | "keep">, OnEngine {}

/** Those of `relativeValues`. */
export interface RelativeValuesVjpOptions extends Omit<RelativeValuesOptions, "keep">, OnEngine {}
