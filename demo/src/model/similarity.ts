// How alike two vectors are: by dot product, by cosine, by distance.

import { at, fill, type Matrix } from "./matrix.js";

export function dotOf(a: Matrix, row: number, b: Matrix, other: number): number {
  let sum = 0;
  for (let col = 0; col < a.cols; col++) sum += at(a, row, col) * at(b, other, col);
  return sum;
}

export function lengthOf(a: Matrix, row: number): number {
  return Math.sqrt(dotOf(a, row, a, row));
}

/** 0 for a vector without a direction. */
export function cosineOf(a: Matrix, row: number, b: Matrix, other: number): number {
  const lengths = lengthOf(a, row) * lengthOf(b, other);
  return lengths === 0 ? 0 : dotOf(a, row, b, other) / lengths;
}

export function squaredDistance(a: Matrix, row: number, b: Matrix, other: number): number {
  let sum = 0;
  for (let col = 0; col < a.cols; col++) sum += (at(a, row, col) - at(b, other, col)) ** 2;
  return sum;
}

/** One row a query, one column a key. */
export function pairs(q: Matrix, k: Matrix, score: (row: number, key: number) => number): Matrix {
  return fill(q.rows, k.rows, score);
}
