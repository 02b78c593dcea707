// Plain copies of arguments that need no engine, for a call that has to wait while its caller may write to them.

import type { Arguments, Backend } from "../backends/backend.js";
import { copyOperand } from "./copies.js";
import { isOptions } from "./read-values.js";
import { Tensor } from "./tensor.js";

/** Whether an argument lives in an engine. */
export function holdsTensors({ tensors, options }: Arguments): boolean {
  const values = isOptions(options) ? [...tensors, ...Object.values(options)] : tensors;
  return values.some((value) => value instanceof Tensor);
}

/** Copies arrays before it returns, and reads tensors, which must be those of the backend. `signal` is not copied. */
export async function detach(where: string, backend: Backend | null, given: Arguments): Promise<Arguments> {
  const { tensors, options } = mapped(given, (value, what) => detachOne(`${where}: ${what}`, backend, value));
  return {
    tensors: await Promise.all(tensors),
    options: isOptions(options) ? Object.fromEntries(await settled(options)) : options,
  };
}

/** Copies arrays. Tensors and `signal` are not copied. */
export function copyArguments(given: Arguments): Arguments {
  return mapped(given, copyOne);
}

function mapped({ tensors, options }: Arguments, map: (value: unknown, what: string) => unknown): Arguments {
  const own = isOptions(options)
    ? Object.entries(options).map(([name, value]) => [name, name === "signal" ? value : map(value, name)])
    : null;
  return {
    tensors: tensors.map((value, at) => map(value, `argument ${at + 1}`)),
    options: own === null ? options : Object.fromEntries(own),
  };
}

function settled(options: Readonly<Record<string, unknown>>): Promise<[string, unknown][]> {
  return Promise.all(
    Object.entries(options).map(async ([name, value]): Promise<[string, unknown]> => [name, await value]),
  );
}

function detachOne(where: string, backend: Backend | null, value: unknown): unknown {
  if (value instanceof Tensor) {
    Tensor.residentOf(value, backend, where);
    return value.read().then((data) => ({ data, shape: value.shape }));
  }
  return copyOne(value);
}

function copyOne(value: unknown): unknown {
  if (value instanceof Tensor) return value;
  const copy = copyOperand(value);
  return copy === value && isOptions(value) ? { ...value } : copy;
}
