// A room's state, field by field: its name in the address, how it is written there and what is accepted.

import { formatSingle, LARGEST_TYPED } from "heed/viz";
import type { Matrix } from "./matrix.js";
import type { Codec } from "./store.js";

export interface Field<T> {
  readonly key: string;
  readonly write: (value: T) => string;
  /** undefined for what cannot be read: an address may come from anywhere. */
  readonly read: (text: string) => T | undefined;
}

/** A field, and what it is at first. */
interface Begun<T> extends Field<T> {
  readonly initial: T;
}

export const initially = <T>(initial: NoInfer<T>, field: Field<T>): Begun<T> => ({ ...field, initial });

/** The state that is made of such fields. */
export type StateOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

type AllBegun<S> = { readonly [K in keyof S]: Begun<S[K]> };

export function initialOf<S extends object>(fields: AllBegun<S>): S {
  const initial: Partial<S> = {};
  for (const name in fields) initial[name] = fields[name].initial;
  return initial as S;
}

/** `unsaid`: what an address that says this much means by the fields that it leaves out, where that is not the initial state. */
export function codecFrom<S extends object>(
  fields: AllBegun<S>,
  consistent: (state: S) => S = (state) => state,
  unsaid: (said: Partial<S>) => Partial<S> = () => ({}),
): Codec<S> {
  const initial = initialOf(fields);
  const names = Object.keys(initial).filter((name): name is Extract<keyof S, string> => name in fields);
  return {
    initial,
    consistent,
    keyOf: (name) => fields[name].key,
    toHash: (state) => {
      const parts = new URLSearchParams();
      const meant = { ...initial, ...unsaid(state) };
      for (const name of names) {
        const { key, write } = fields[name];
        const text = write(state[name]);
        if (text !== write(meant[name])) parts.set(key, text);
      }
      const text = parts.toString();
      return text === "" ? "" : `#${text}`;
    },
    fromHash: (hash) => {
      const parts = new URLSearchParams(hash.replace(/^#/, ""));
      const read: Partial<S> = {};
      for (const name of names) {
        const text = parts.get(fields[name].key);
        const value = text === null ? undefined : fields[name].read(text);
        if (value !== undefined) read[name] = value;
      }
      return { ...unsaid(read), ...read };
    },
  };
}

/** A number, brought within its bounds, with so many decimals at most. */
export function number(key: string, least: number, most: number, decimals = 0): Field<number> {
  return {
    key,
    write: (value) => String(Number(value.toFixed(decimals))),
    read: (text) => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) return undefined;
      return Number(Math.min(most, Math.max(least, value)).toFixed(decimals));
    },
  };
}

/** The value of a list that is closest to what is wanted. */
export function listed(values: readonly number[], wanted: number): number {
  return values.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best));
}

/** One of these values, the closest to what is written. */
export function step(key: string, values: readonly number[]): Field<number> {
  const { read, write } = number(key, values[0] ?? 0, values.at(-1) ?? 0, 3);
  const nearest = (value: number | undefined) => (value === undefined ? undefined : listed(values, value));
  return { key, write, read: (text) => nearest(read(text)) };
}

/** A matrix of the given one's shape. */
export function like(key: string, given: Matrix): Begun<Matrix> {
  const field = matrix(key);
  return { ...field, initial: given, read: (text) => fitting(field.read(text), given) };
}

/** One's own matrix, where it has the shape of the given one. */
export function fitting(own: Matrix | null | undefined, given: Matrix): Matrix | undefined {
  return own?.rows === given.rows && own.cols === given.cols ? own : undefined;
}

export function oneOf<const T extends string>(key: string, values: readonly T[]): Field<T> {
  return { key, write: (value) => value, read: (text) => values.find((value) => value === text) };
}

/** Where a word's numbers stand: in a row of every matrix, or in a column. */
export type By = "rows" | "columns";

export const BY: Field<By> = oneOf("by", ["rows", "columns"]);

export function text(key: string, longest: number): Field<string> {
  return { key, write: (value) => value, read: (written) => written.slice(0, longest) };
}

/** Whole numbers from zero on: "3.5.8". */
export function wholes(key: string): Field<readonly number[]> {
  return {
    key,
    write: (value) => value.join("."),
    read: (written) => written.split(".").flatMap((part) => (/^\d{1,6}$/.test(part) ? [Number(part)] : [])),
  };
}

export function matrix(key: string): Field<Matrix> {
  return { key, write: writeMatrix, read: readMatrix };
}

/** null: not changed by hand. */
export function matrixOrNone(key: string): Field<Matrix | null> {
  return { ...matrix(key), write: (value) => (value === null ? "" : writeMatrix(value)) };
}

/** Columns, then the numbers: "3_1_0_0.5_…", letters that survive an address unescaped. */
const writeMatrix = (matrix: Matrix): string => [matrix.cols, ...Array.from(matrix.data, formatSingle)].join("_");

/** Numbers beyond what can be typed are brought to the largest that can. */
function readMatrix(text: string): Matrix | undefined {
  const [cols = 0, ...data] = text.split("_").map(Number);
  const isWhole = Number.isInteger(cols) && cols > 0 && data.length > 0 && data.length % cols === 0;
  if (!isWhole || data.some(Number.isNaN)) return undefined;
  return { rows: data.length / cols, cols, data: Float64Array.from(data, bounded) };
}

const bounded = (value: number): number => Math.min(LARGEST_TYPED, Math.max(-LARGEST_TYPED, value));
