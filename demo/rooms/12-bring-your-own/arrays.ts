// Arrays and lists of words by name, however they were brought, and what can be wrong with them, in words.

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

export function refuse(why: string): never {
  throw new FileTrouble(why);
}

/** A gigabyte in single precision: more than a page should ask of a phone, and as much as this one takes. */
const MOST_NUMBERS = 2 ** 28;

/** How many numbers a shape has room for. Refuses what is no shape, and what is too large. */
export function countOf(name: string, shape: readonly number[]): number {
  let count = 1;
  for (const size of shape) {
    if (!Number.isSafeInteger(size) || size < 0) refuse(`“${name}” says its shape is ${shown(shape)}.`);
    count *= size;
  }
  if (count <= MOST_NUMBERS) return count;
  const [has, most] = [count, MOST_NUMBERS].map(whole);
  return refuse(`“${name}” is too large: ${shown(shape)} is ${has} numbers, and this page takes ${most}.`);
}

/** Refuses what is not a number. */
export function assertFinite(array: NamedArray): void {
  const { name, shape, data } = array;
  const { odd: first } = surveyOf(array);
  if (first < 0) return;
  const place = shape.map((size, axis) => {
    const inner = shape.slice(axis + 1).reduce((product, one) => product * one, 1);
    return Math.floor(first / inner) % size;
  });
  if (Number.isNaN(data[first])) {
    refuse(`“${name}” holds NaN at ${shown(place)}, which attention would spread to whole rows.`);
  }
  const where = `the first is at ${shown(place)}`;
  refuse(`“${name}” holds numbers too large for single precision, which ends at 3.4 × 10³⁸; ${where}.`);
}

export function shown(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}

/** "1 layer", "2 layers" */
export function counted(many: number, what: string): string {
  return `${whole(many)} ${what}${many === 1 ? "" : "s"}`;
}

type Side = "q" | "k";
export type Words = Readonly<Partial<Record<Side, readonly string[]>>>;

/** Whose words a list has, by its name; the later ones go before. */
export const TOKEN_LISTS: ReadonlyMap<string, readonly Side[]> = new Map([
  ["tokens", ["q", "k"]],
  ["queryTokens", ["q"]],
  ["keyTokens", ["k"]],
]);

/** `tokens` name the queries, the keys or both: whichever are as many. Refuses a list that fits neither. */
export function wordsOf(lists: readonly NamedWords[], counts: Readonly<Record<Side, number>>): Words {
  const found: Partial<Record<Side, readonly string[]>> = {};
  for (const [name, sides] of TOKEN_LISTS) {
    const words = lists.find((list) => list.name === name)?.words;
    if (words === undefined) continue;
    const fitting = sides.filter((side) => counts[side] === words.length);
    const there = sides.map((side) => `${counts[side]} ${side === "q" ? "queries" : "keys"}`).join(" and ");
    if (fitting.length === 0) refuse(`“${name}” has ${words.length} words for ${there}.`);
    for (const side of fitting) found[side] = words;
  }
  return found;
}

/** "k3", or with its word: "k3 fox". `before`: what stands before the number. */
export function nameOf(
  { words }: { readonly words?: Words },
  side: Side,
  index: number,
  before: string = side,
): string {
  const word = words?.[side]?.[index];
  return word === undefined ? `${before}${index + 1}` : `${before}${index + 1} ${word}`;
}
