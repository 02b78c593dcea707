// The axes of tensors that layers take.

import type { Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";

export function lastOf({ shape }: Tensor): number {
  return shape[shape.length - 1] ?? 0;
}

/** Throws unless the last axis of x is `width` long. */
export function checkWidth(where: string, name: string, x: Tensor, width: number): void {
  if (x.shape.length >= 1 && lastOf(x) === width) return;
  throw new HeedError("shape", `${where}: the last axis of ${name} must be ${width}, got ${showShape(x.shape)}`);
}

/** Checks that x is [L, E] or [B, L, E] with E = width, and returns [B, L]. */
export function leadingOf(where: string, name: string, x: Tensor, width: number): readonly [number, number] {
  checkWidth(where, name, x, width);
  if (x.shape.length === 2 || x.shape.length === 3) return batchAndLength(x);
  throw new HeedError("shape", `${where}: ${name} must be [L, E] or [B, L, E], got ${showShape(x.shape)}`);
}

/** [B, L] of [L, E] or [B, L, E]. */
export function batchAndLength({ shape: [first = 0, second = 0, third] }: Tensor): readonly [number, number] {
  return third === undefined ? [1, first] : [first, second];
}
