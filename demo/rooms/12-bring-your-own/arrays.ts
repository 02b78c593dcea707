// Arrays by name, however they were brought, and what can be wrong with them, in words.

import { whole } from "../../src/ui/numbers.js";

export interface NamedArray {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array<ArrayBuffer>;
  /** Where whoever read it looked already. */
  readonly survey?: Survey;
}

/** A list of words by name: what tokens are called. */
export interface NamedWords {
  readonly name: string;
  readonly words: readonly string[];
}

/** What a file or a text has. */
export interface Arrays {
  readonly arrays: readonly NamedArray[];
  readonly words: readonly NamedWords[];
}

/** What all numbers of an array say. */
export interface Survey {
  /** The place of the first that is none; -1: all are. */
  readonly odd: number;
  readonly least: number;
  /** The largest magnitude. */
  readonly largest: number;
  /** Each row, along the last axis, adds up to about 1. */
  readonly addsUp: boolean;
}

/** Rows of half-precision weights are off by no more. */
const NEAR_ONE = 0.01;

export function surveyOf({ shape, data, survey }: NamedArray): Survey {
  if (survey !== undefined) return survey;
  const width = shape.at(-1) ?? 0;
  let [odd, least, largest, sum, addsUp] = [-1, Number.POSITIVE_INFINITY, 0, 0, data.length > 0];
  for (let index = 0; index < data.length; index++) {
    const value = data[index] ?? Number.NaN;
    if (odd < 0 && !Number.isFinite(value)) odd = index;
    if (value < least) least = value;
    if (Math.abs(value) > largest) largest = Math.abs(value);
    sum += value;
    if ((index + 1) % width !== 0) continue;
    if (!(Math.abs(sum - 1) < NEAR_ONE)) addsUp = false;
    sum = 0;
  }
  return { odd, least, largest, addsUp };
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
export function assertFinite(array: NamedArray): void {
  const { name, shape, data } = array;
  const { odd: first } = surveyOf(array);
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

/** "1 layer", "2 layers" */
export function counted(many: number, what: string): string {
  return `${whole(many)} ${what}${many === 1 ? "" : "s"}`;
}
