// Arithmetic on numbers as the demo prints them: cells show two decimals, told arithmetic four.

import { expect } from "vitest";

export const HALF_OF_TWO_DECIMALS = 0.005 + 1e-6;
/** Numbers of ten and more have one decimal, of a hundred and more none. */
export function halfOfCell(value: number): number {
  const size = Math.abs(value);
  return size >= 99.9 ? 0.5 + 1e-6 : size >= 9.99 ? 0.05 + 1e-6 : HALF_OF_TWO_DECIMALS;
}
export const HALF_OF_FOUR_DECIMALS = 0.00005 + 1e-6;

export const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? Number.NaN), 0);
export const column = (matrix: readonly (readonly number[])[], index: number): number[] =>
  matrix.map((row) => row[index] ?? Number.NaN);
export const total = (row: readonly number[]): number => row.reduce((sum, value) => sum + value, 0);

/** A matrix for the reference. */
export const inOne = (rows: readonly (readonly number[])[]) => ({
  data: Float64Array.from(rows.flat()),
  shape: [rows.length, rows[0]?.length ?? 0],
});

/** A matrix as cells show it against the numbers that it should show. */
export function compare(shown: readonly (readonly number[])[], expected: ArrayLike<number>): void {
  const flat = shown.flat();
  expect(flat).toHaveLength(expected.length);
  flat.forEach((value, index) => {
    const wanted = expected[index] ?? Number.NaN;
    if (Number.isFinite(wanted)) expect(Math.abs(value - wanted)).toBeLessThanOrEqual(halfOfCell(wanted));
    else expect(value).toBe(wanted);
  });
}
