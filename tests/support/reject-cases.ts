// tests/cases/attention-rejects.json as calls: what every backend must refuse, in the same words.

import list from "../cases/attention-rejects.json";

/** Numbers that JSON cannot say. */
const SPELT: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
]);

export function spelt(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spelt);
  if (typeof value === "object" && value !== null) {
    if ("zeros" in value && Array.isArray(value.zeros)) return zeros(value.zeros, floats);
    if ("bytes" in value && Array.isArray(value.bytes)) return zeros(value.bytes, bytes);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, spelt(inner)]));
  }
  return SPELT.get(value) ?? value;
}

/** Zeros of a shape that may be nonsense: then empty, since the shape must be refused before the data is looked at. */
export function zeros(shape: readonly unknown[], make: (size: number) => unknown): { data: unknown; shape: unknown } {
  const size = shape.reduce<number>((total, axis) => (typeof axis === "number" ? total * axis : -1), 1);
  return { data: make(Number.isInteger(size) && size > 0 && size < 2 ** 20 ? size : 0), shape: spelt(shape) };
}

export const floats = (size: number): Float32Array => new Float32Array(size);
export const bytes = (size: number): Uint8Array => new Uint8Array(size);

export interface Reject {
  readonly name: string;
  readonly query: readonly unknown[];
  readonly key: readonly unknown[];
  readonly value: readonly unknown[];
  readonly mask?: readonly unknown[];
  readonly bias?: readonly unknown[];
  readonly options?: unknown;
  readonly code: string;
  readonly message: string;
}

export const rejects: readonly Reject[] = list.cases;

export function argumentsOf(one: Reject): unknown[] {
  const tensors = [one.query, one.key, one.value].map((shape) => zeros(shape, floats));
  const extras = {
    ...(one.mask && { mask: zeros(one.mask, bytes) }),
    ...(one.bias && { bias: zeros(one.bias, floats) }),
  };
  if (Object.keys(extras).length === 0 && !("options" in one)) return tensors;
  const options = spelt(one.options);
  if (Object.keys(extras).length === 0) return [...tensors, options];
  return [...tensors, { ...(typeof options === "object" ? options : {}), ...extras }];
}
