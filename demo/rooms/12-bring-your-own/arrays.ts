// Arrays by name, however they were brought, and what can be wrong with them, in words.

import { whole } from "../../src/ui/numbers.js";

export interface NamedArray {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array<ArrayBuffer>;
}

/** Said where the file was opened. */
export class FileTrouble extends Error {}

/** A gigabyte in single precision: more than a page should ask of a phone, and as much as this one takes. */
export const MOST_NUMBERS = 2 ** 28;

/** How many numbers a shape has room for. Throws for what is no shape, and for what is too large. */
export function countOf(name: string, shape: readonly number[]): number {
  let count = 1;
  for (const size of shape) {
    if (!Number.isSafeInteger(size) || size < 0) throw new FileTrouble(`“${name}” says its shape is ${shown(shape)}.`);
    count *= size;
  }
  if (count > MOST_NUMBERS) {
    const [has, most] = [count, MOST_NUMBERS].map((many) => whole(many));
    throw new FileTrouble(`“${name}” is too large: ${shown(shape)} is ${has} numbers, and this page takes ${most}.`);
  }
  return count;
}

/** Every number must be one. */
export function assertFinite({ name, shape, data }: NamedArray): void {
  const first = data.findIndex((value) => !Number.isFinite(value));
  if (first < 0) return;
  const place = shape.map((_, axis) => {
    const inner = shape.slice(axis + 1).reduce((product, size) => product * size, 1);
    return Math.floor(first / inner) % (shape[axis] ?? 1);
  });
  throw new FileTrouble(
    Number.isNaN(data[first])
      ? `“${name}” holds NaN at ${shown(place)}, which attention would spread to whole rows.`
      : `“${name}” holds numbers too large for single precision, which ends at 3.4 × 10³⁸; the first is at ${shown(place)}.`,
  );
}

export function shown(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}
