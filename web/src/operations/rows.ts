// Dense rows in the engine's memory, which the operations of layers read and make.

import type { Operand, OutputView, Resident } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { HeedError } from "../base/errors.js";

/** Rows at the start of a resident. */
export interface Rows {
  readonly resident: Resident;
  readonly count: number;
  readonly length: number;
}

/** The cost of an elementwise operation on one number, in multiplications. */
export const POINTWISE_COST = 8;

export function rowsView(count: number, length: number): OutputView {
  return { elements: count * length, shape: [1, 1, count, length], strides: [0, 0, length, 1] };
}

/** A view of a resident. */
export function placed({ elements, shape, strides }: OutputView, resident: Resident): Operand {
  // A layer may be disposed of between two calls of one pass, which holds only what it has asked for.
  if (!resident.live && !resident.users)
    throw new HeedError("disposed", "heed/layers: a layer or tensor was disposed of while it was used");
  return { source: { kind: "resident", resident }, dtype: resident.dtype, elements, shape, strides };
}

export function operandOf({ resident, count, length }: Rows): Operand {
  return placed(rowsView(count, length), resident);
}

export function operandIf(rows: Rows | null): Operand | null {
  return rows && operandOf(rows);
}

/** All of a resident, as one row. */
export function wholeOf(resident: Resident): Operand {
  return operandOf({ resident, count: 1, length: resident.elements });
}

/** How many times as long as its multiplications a memory-bound call takes: see Cut. */
export const MEMORY_BOUND = 4;

/** The axes of views of rows. */
export const ROWS = 2;
export const COLUMNS = 3;

/** A cut by the rows of views that have one for each. */
export function byRow(count: number, words: readonly number[]): CutAxis {
  return { count, views: words.map((word) => [word, ROWS, 1]) };
}
