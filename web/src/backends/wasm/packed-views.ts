// Reads and writes the views in a packed call. A view is an address, four sizes and four strides.

import type { Job } from "./job.js";

/** Word offsets in a view, and its length. */
export const SHAPE = 1;
export const STRIDES = 5;
export const VIEW = 9;

const AXES: readonly number[] = [0, 1, 2, 3];

export function size(call: Int32Array, word: number, axis: number): number {
  return call[word + SHAPE + axis] ?? 0;
}

export function stride(call: Int32Array, word: number, axis: number): number {
  return call[word + STRIDES + axis] ?? 0;
}

export function shapeAt(call: Int32Array, word: number): readonly [number, number, number, number] {
  return [size(call, word, 0), size(call, word, 1), size(call, word, 2), size(call, word, 3)];
}

/** An absent view has sizes of 0. Empty calls are never cut, so no other view has, unless a slice has nothing of it. */
export function isPresent(call: Int32Array, word: number): boolean {
  return AXES.every((axis) => size(call, word, axis) > 0);
}

/** Distinct elements of a view; axes of stride 0 repeat them. */
export function elementsOf(call: Int32Array, word: number): number {
  return AXES.reduce((total, axis) => (stride(call, word, axis) === 0 ? total : total * size(call, word, axis)), 1);
}

export function elementBytes({ narrow }: Job, word: number): number {
  return narrow[word] ?? Float32Array.BYTES_PER_ELEMENT;
}

/** Elements from the first of a view to its last. */
export function spanOf(call: Int32Array, word: number): number {
  return AXES.reduce((sum, axis) => sum + (size(call, word, axis) - 1) * stride(call, word, axis), 1);
}

/** Makes a view dense, in the order of its axes. Returns the number of its elements. */
export function makeDense(call: Int32Array, word: number): number {
  let elements = 1;
  for (const axis of [3, 2, 1, 0]) {
    call[word + STRIDES + axis] = elements;
    elements *= size(call, word, axis);
  }
  return elements;
}

/** Copies a slice's dense result into the result of the whole call, whose view starts at address 0. */
export function scatter(
  slice: Int32Array,
  whole: Int32Array,
  word: number,
  from: Float32Array,
  to: Float32Array,
): void {
  const [batch, heads, rows, columns] = shapeAt(slice, word);
  const start = (slice[word] ?? 0) / Float32Array.BYTES_PER_ELEMENT;
  // Rows that are adjacent in the whole result too are copied together.
  const together = stride(whole, word, 2) === columns ? rows : 1;
  const length = together * columns;
  let taken = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      const head = start + b * stride(whole, word, 0) + h * stride(whole, word, 1);
      for (let row = 0; row < rows; row += together, taken += length) {
        to.set(from.subarray(taken, taken + length), head + row * stride(whole, word, 2));
      }
    }
  }
}
