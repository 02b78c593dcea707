// What rope and linear attention read alike: layouts, operands in single precision, room for results.

import type { Backend, Operand, OutputView } from "../../backends/backend.js";
import { showShape } from "../describe.js";
import { HeedError } from "../errors.js";
import type { Walk } from "../layout.js";
import { MAX_ELEMENTS, product, type ReadTensor, readSingle } from "../operands.js";
import { DEFAULTS, type Layout } from "../options.js";
import { readChoice } from "../read-values.js";

export function readLayout(where: string, value: unknown): Layout {
  return readChoice(where, "layout", value, ["bhnd", "bnhd", "packed"], DEFAULTS.layout);
}

export function operandOf(read: ReadTensor, walk: Walk): Operand {
  return { source: read.source, dtype: read.dtype, elements: read.elements, ...walk };
}

/** A tensor in single precision, which may live in `backend`; null where it is absent. */
export function readOptional(
  where: string,
  name: string,
  value: unknown,
  backend: Backend | null = null,
): ReadTensor | null {
  return value === undefined ? null : readSingle(where, name, value, backend);
}

export function roomFor(where: string, name: string, walk: Walk): OutputView {
  const elements = product(walk.shape);
  if (elements <= MAX_ELEMENTS) return { elements, ...walk };
  throw new HeedError(
    "memory",
    `${where}: ${name} ${showShape(walk.shape)} would have ${elements} elements, heed can address ${MAX_ELEMENTS}`,
  );
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}
