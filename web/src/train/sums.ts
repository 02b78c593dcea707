// Sums of rows, those of narrow ones in two steps: rows of one number would leave most of a vector empty.

import type { Operation, Resident } from "../backends/backend.js";
import { ROW_SUMS } from "../operations/training/row-sums.js";
import { rowsOf, vectorOf } from "../operations/training/vectors.js";

interface Runner {
  one<P extends object>(operation: Operation<P>, problem: P): Promise<Resident>;
  free(resident: Resident): void;
}

const WIDE = 64;

/** A multiple of `length` numbers, in rows of which so many rows of `length` can be seen. */
export function widthOf(length: number, count: number): number {
  let width = length;
  for (let rest = count; width < WIDE && rest % 2 === 0; rest /= 2) width *= 2;
  return width;
}

/** The sum of the rows of `length` numbers, and of `addend`. */
export async function summed(
  runner: Runner,
  x: Resident,
  length: number,
  addend: Resident | null = null,
): Promise<Resident> {
  const width = widthOf(length, x.elements / length);
  const wide = width === length ? x : await runner.one(ROW_SUMS, { rows: rowsOf(x, width), addend: null });
  const sum = await runner.one(ROW_SUMS, { rows: rowsOf(wide, length), addend: addend && vectorOf(addend) });
  if (wide !== x) runner.free(wide);
  return sum;
}
