// A matrix as a part of an address, and back.

import { formatSingle, LARGEST_TYPED } from "heed/viz";
import type { Matrix } from "./matrix.js";

/** Columns, then the numbers: "3_1_0_0.5_…", letters that survive an address unescaped. */
export function writeMatrix(matrix: Matrix): string {
  return [matrix.cols, ...Array.from(matrix.data, formatSingle)].join("_");
}

/** Numbers beyond what can be typed are brought to the largest that can. */
export function readMatrix(text: string | null): Matrix | null {
  if (text === null) return null;
  const [cols, ...data] = text.split("_").map(Number);
  if (cols === undefined || !Number.isInteger(cols) || cols < 1 || data.length === 0 || data.length % cols !== 0)
    return null;
  if (data.some(Number.isNaN)) return null;
  return { rows: data.length / cols, cols, data: Float64Array.from(data, bounded) };
}

export function holdsTooLarge(text: string | null): boolean {
  const [, ...numbers] = (text ?? "").split("_").map(Number);
  return readMatrix(text) !== null && numbers.some((number) => bounded(number) !== number);
}

function bounded(value: number): number {
  return Math.min(LARGEST_TYPED, Math.max(-LARGEST_TYPED, value));
}
