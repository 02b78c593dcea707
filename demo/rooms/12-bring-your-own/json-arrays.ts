// Arrays out of JSON: rows within rows, or an object that has several by name, and the words of their tokens.

import { type Arrays, countOf, type NamedArray, type NamedWords, refuse, TOKEN_LISTS } from "./arrays.js";

const DEEPEST = 8;

/** `name`: of an array that has none of its own. */
export function readJson(name: string, text: string): Arrays {
  return arraysOf(name, parseJson(name, text));
}

export function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse(`“${name}” is not valid JSON: ${messageOf(error)}. JSON has no NaN and no Infinity, for example.`);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Lists of words apart from arrays of numbers. */
export function arraysOf(name: string, value: unknown): Arrays {
  const isArray = (one: unknown): boolean => Array.isArray(one) || (isRecord(one) && "shape" in one && "data" in one);
  const named = isRecord(value) && !isArray(value) ? Object.entries(value) : [[name, value] as const];
  const [arrays, words]: [NamedArray[], NamedWords[]] = [[], []];
  for (const [own, one] of named) {
    if (!isArray(one)) continue;
    if (!Array.isArray(one)) arrays.push(readFlat(own, isRecord(one) ? one : {}));
    else if (TOKEN_LISTS.has(own) && one.some((part) => typeof part === "string")) words.push(readWords(own, one));
    else arrays.push(readNested(own, one));
  }
  if (arrays.length + words.length > 0) return { arrays, words };
  return refuse(
    isRecord(value)
      ? `“${name}” is an object without arrays.`
      : `“${name}” must be rows within rows, or an object of such by name.`,
  );
}

function readWords(name: string, value: readonly unknown[]): NamedWords {
  const words = value.map((one, index) =>
    typeof one === "string" ? one : refuse(`“${name}” has ${JSON.stringify(one)} at [${index}], where a word must be.`),
  );
  return { name, words };
}

/** { shape, data }, as tensors are in code. */
function readFlat(name: string, { shape, data }: Readonly<Record<string, unknown>>): NamedArray {
  if (!Array.isArray(shape) || !Array.isArray(data)) refuse(`“${name}” must have a shape and data.`);
  const sizes = shape.map((size) => (typeof size === "number" ? size : Number.NaN));
  const count = countOf(name, sizes);
  if (count !== data.length) refuse(`“${name}” says ${count} numbers by its shape, and has ${data.length}.`);
  return { name, shape: sizes, data: Float32Array.from(data, (one, index) => numberAt(name, one, [index])) };
}

function readNested(name: string, value: readonly unknown[]): NamedArray {
  const shape: number[] = [];
  for (let inner: unknown = value; Array.isArray(inner); inner = inner[0]) {
    if (shape.length === DEEPEST) refuse(`“${name}” has more than ${DEEPEST} brackets within each other.`);
    shape.push(inner.length);
  }
  const data = new Float32Array(countOf(name, shape));
  let next = 0;
  const walk = (part: unknown, axis: number, place: readonly number[]): void => {
    if (axis === shape.length) {
      data[next++] = numberAt(name, part, place);
      return;
    }
    const size = shape[axis];
    if (!Array.isArray(part) || part.length !== size) {
      const has = Array.isArray(part) ? `${part.length} long` : JSON.stringify(part);
      refuse(`“${name}” is ragged: at [${place.join(", ")}] it is ${has}, and ${size} long at the start.`);
    }
    part.forEach((one: unknown, index) => {
      walk(one, axis + 1, [...place, index]);
    });
  };
  walk(value, 0, []);
  return { name, shape, data };
}

function numberAt(name: string, value: unknown, place: readonly number[]): number {
  if (typeof value === "number") return value;
  const lists = Array.from(TOKEN_LISTS.keys(), (list) => `“${list}”`).join(", ");
  const hint = typeof value === "string" ? ` Words of tokens go into a list that is called one of ${lists}.` : "";
  return refuse(`“${name}” has ${JSON.stringify(value)} at [${place.join(", ")}], where a number must be.${hint}`);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
