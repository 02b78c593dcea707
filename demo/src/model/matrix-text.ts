// A matrix as a part of an address, and back.

import type { Matrix } from "./matrix.js";

/** Columns, then the numbers: "3_1_0_0.5_…", letters that survive an address unescaped. */
export function writeMatrix(matrix: Matrix): string {
  return [matrix.cols, ...Array.from(matrix.data, (value) => Number(value.toFixed(4)))].join("_");
}

export function readMatrix(text: string | null): Matrix | null {
  if (text === null) return null;
  const [cols, ...data] = text.split("_").map(Number);
  if (cols === undefined || !Number.isInteger(cols) || cols < 1 || data.length === 0 || data.length % cols !== 0)
    return null;
  if (!data.every(Number.isFinite)) return null;
  return { rows: data.length / cols, cols, data: Float64Array.from(data) };
}
