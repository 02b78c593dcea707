// Readers that rope and linear attention share.

import type { Backend } from "../../backends/backend.js";
import { type ReadTensor, readF32 } from "../operands.js";

/** An f32 tensor, which may live in `backend`; null where it is absent. */
export function readOptional(
  where: string,
  name: string,
  value: unknown,
  backend: Backend | null = null,
): ReadTensor | null {
  return value === undefined ? null : readF32(where, name, value, backend);
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}
