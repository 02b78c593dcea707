// What rope and linear attention read alike: layouts, operands in single precision, room for results.

import type { Backend } from "../../backends/backend.js";
import { type ReadTensor, readF32 } from "../operands.js";
import { DEFAULTS, type Layout } from "../options.js";
import { readChoice } from "../read-values.js";

export function readLayout(where: string, value: unknown): Layout {
  return readChoice(where, "layout", value, ["bhnd", "bnhd", "packed"], DEFAULTS.layout);
}

/** A tensor in single precision, which may live in `backend`; null where it is absent. */
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
