// Arrays and lists of words by name, however they were brought, and what can be wrong with them, in words. In JSON they are rows within
// rows, or an object that has several by name.

import { whole } from "../ui/numbers.js";

export interface NamedArray {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array<ArrayBuffer>;
  /** Where whoever read it looked already. */
  readonly survey?: Survey;
}

/** What a file or a text has. */
export interface Arrays {
  readonly arrays: readonly NamedArray[];
  /** Lists by name: what tokens are called. */
  readonly words: readonly { readonly name: string; readonly words: readonly string[] }[];
}

/** Rows of half-precision weights are off by no more. */
const NEAR_ONE = 0.01;

type Survey = ReturnType<typeof survey>;

/** Of all numbers: the place of the first that is none, or -1; the largest magnitude; whether each row, along the last axis, adds up to about 1. */
function survey(width: number, data: Float32Array) {
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

export const surveyOf = ({ shape, data, survey: known }: NamedArray): Survey =>
  known ?? survey(shape.at(-1) ?? 0, data);

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

export const shown = (shape: readonly number[]): string => `[${shape.join(", ")}]`;

/** "one, two and three" */
export const listed = (parts: readonly string[]): string => parts.join(", ").replace(/, (?=[^,]*$)/, " and ");

/** "1 layer", "2 layers" */
export const counted = (many: number, what: string): string => `${whole(many)} ${what}${many === 1 ? "" : "s"}`;

type Side = "q" | "k";
export type Words = Readonly<Partial<Record<Side, readonly string[]>>>;

/** Whose words a list has, by its name; the later ones go before. */
const TOKEN_LISTS: Readonly<Record<string, readonly Side[]>> = {
  tokens: ["q", "k"],
  queryTokens: ["q"],
  keyTokens: ["k"],
};

/** `tokens` name the queries, the keys or both: whichever are as many. Refuses a list that fits neither. */
export function wordsOf(lists: Arrays["words"], counts: Readonly<Record<Side, number>>): Words {
  const found: Partial<Record<Side, readonly string[]>> = {};
  for (const [name, sides] of Object.entries(TOKEN_LISTS)) {
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
export function nameOf(of: { readonly words?: Words }, side: Side, index: number, before: string = side): string {
  const word = of.words?.[side]?.[index];
  return word === undefined ? `${before}${index + 1}` : `${before}${index + 1} ${word}`;
}

/** Numbers of a model, rather than what it computes. */
export const isParameter = (name: string): boolean => /(?:^|\.)(?:weight|bias|gamma|beta)$/.test(name);

const DEEPEST = 8;

/** `name`: of an array that has none of its own. */
export const readJson = (name: string, text: string): Arrays => arraysOf(name, parseJson(name, text));

export function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse(`“${name}” is not valid JSON: ${messageOf(error)}. JSON has no NaN and no Infinity, for example.`);
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Lists of words apart from arrays of numbers. */
export function arraysOf(name: string, value: unknown): Arrays {
  const named = isRecord(value) ? Object.entries(value) : [[name, value] as const];
  const [arrays, words]: [NamedArray[], Arrays["words"][number][]] = [[], []];
  for (const [own, one] of named) {
    if (!Array.isArray(one)) continue;
    if (Object.hasOwn(TOKEN_LISTS, own) && one.some((part) => typeof part === "string"))
      words.push({ name: own, words: one.map((word, index) => wordAt(own, word, index)) });
    else arrays.push(readNested(own, one));
  }
  if (arrays.length + words.length > 0) return { arrays, words };
  const wanted = isRecord(value)
    ? "is an object without arrays"
    : "must be rows within rows, or an object of such by name";
  return refuse(`“${name}” ${wanted}.`);
}

function readNested(name: string, value: readonly unknown[]): NamedArray {
  const shape: number[] = [];
  for (let inner: unknown = value; Array.isArray(inner); inner = inner[0]) {
    if (shape.length === DEEPEST) refuse(`“${name}” has more than ${DEEPEST} brackets within each other.`);
    shape.push(inner.length);
  }
  const data = new Float32Array(countOf(name, shape));
  let next = 0;
  const walk = (part: unknown, place: readonly number[]): void => {
    const size = shape[place.length];
    if (size === undefined) {
      data[next++] = numberAt(name, part, place);
    } else if (Array.isArray(part) && part.length === size) {
      for (const [index, one] of part.entries()) walk(one, [...place, index]);
    } else {
      const has = Array.isArray(part) ? `${part.length} long` : JSON.stringify(part);
      refuse(`“${name}” is ragged: at ${shown(place)} it is ${has}, and ${size} long at the start.`);
    }
  };
  walk(value, []);
  return { name, shape, data };
}

function wordAt(name: string, value: unknown, index: number): string {
  if (typeof value === "string") return value;
  return refuse(`“${name}” has ${JSON.stringify(value)} at [${index}], where a word must be.`);
}

function numberAt(name: string, value: unknown, place: readonly number[]): number {
  if (typeof value === "number") return value;
  const lists = `“${Object.keys(TOKEN_LISTS).join("”, “")}”`;
  const hint = typeof value === "string" ? ` Words of tokens go into a list that is called one of ${lists}.` : "";
  return refuse(`“${name}” has ${JSON.stringify(value)} at ${shown(place)}, where a number must be.${hint}`);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
