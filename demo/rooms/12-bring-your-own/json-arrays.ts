// Arrays out of JSON: rows within rows, or an object that has several by name, and the words of their tokens.

import { type Arrays, countOf, FileTrouble, type NamedArray, type NamedWords } from "./arrays.js";
import { TOKEN_LISTS } from "./words.js";

const DEEPEST = 8;

/** `name`: of an array that has none of its own. */
export function readJson(name: string, text: string): Arrays {
  return arraysOf(name, parseJson(name, text));
}

export function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FileTrouble(`“${name}” is not valid JSON: ${why}. JSON has no NaN and no Infinity, for example.`);
  }
}

export function arraysOf(name: string, value: unknown): Arrays {
  if (Array.isArray(value)) return sorted([[name, value]]);
  if (!isRecord(value)) throw new FileTrouble(`“${name}” must be rows within rows, or an object of such by name.`);
  if (isFlat(value)) return sorted([[name, value]]);
  const named = Object.entries(value).filter(([, one]) => Array.isArray(one) || (isRecord(one) && isFlat(one)));
  if (named.length === 0) throw new FileTrouble(`“${name}” is an object without arrays.`);
  return sorted(named);
}

/** Lists of words apart from arrays of numbers. */
function sorted(named: readonly (readonly [name: string, value: unknown])[]): Arrays {
  const [arrays, words]: [NamedArray[], NamedWords[]] = [[], []];
  for (const [name, value] of named) {
    if (!Array.isArray(value)) arrays.push(readFlat(name, isRecord(value) ? value : {}));
    else if (TOKEN_LISTS.has(name) && value.some((one) => typeof one === "string")) words.push(readWords(name, value));
    else arrays.push(readNested(name, value));
  }
  return { arrays, words };
}

function readWords(name: string, value: readonly unknown[]): NamedWords {
  const words = value.map((one, index) => {
    if (typeof one === "string") return one;
    throw new FileTrouble(`“${name}” has ${JSON.stringify(one)} at [${index}], where a word must be.`);
  });
  return { name, words };
}

/** { shape, data }, as tensors are in code. */
function readFlat(name: string, { shape, data }: Readonly<Record<string, unknown>>): NamedArray {
  if (!Array.isArray(shape) || !Array.isArray(data)) throw new FileTrouble(`“${name}” must have a shape and data.`);
  const sizes = shape.map((size) => (typeof size === "number" ? size : Number.NaN));
  const count = countOf(name, sizes);
  if (count !== data.length) {
    throw new FileTrouble(`“${name}” says ${count} numbers by its shape, and has ${data.length}.`);
  }
  return { name, shape: sizes, data: Float32Array.from(data, (one, index) => numberAt(name, one, [index])) };
}

function readNested(name: string, value: readonly unknown[]): NamedArray {
  const shape: number[] = [];
  for (let inner: unknown = value; Array.isArray(inner); inner = inner[0]) {
    if (shape.length === DEEPEST)
      throw new FileTrouble(`“${name}” has more than ${DEEPEST} brackets within each other.`);
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
      throw new FileTrouble(
        `“${name}” is ragged: at [${place.join(", ")}] it is ${has}, and ${size} long at the start.`,
      );
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
  const names = Array.from(TOKEN_LISTS.keys(), (list) => `“${list}”`).join(", ");
  const hint = typeof value === "string" ? ` Words of tokens go into a list that is called one of ${names}.` : "";
  throw new FileTrouble(
    `“${name}” has ${JSON.stringify(value)} at [${place.join(", ")}], where a number must be.${hint}`,
  );
}

function isFlat(value: Readonly<Record<string, unknown>>): boolean {
  return "shape" in value && "data" in value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
