// Arguments as plain copies that need no engine, for a call that has to wait while its caller may write on.

import type { Arguments, Backend } from "../backends/backend.js";
import { copyOperand } from "./copies.js";
import { isOptions } from "./read-values.js";
import { Tensor } from "./tensor.js";
import { isTypedArray } from "./typed-array.js";

/** Whether an argument lives in an engine. */
export function holdsTensors({ tensors, options }: Arguments): boolean {
  const values = isOptions(options) ? [...tensors, ...Object.values(options)] : tensors;
  return values.some((value) => value instanceof Tensor);
}

/** Copies are made before this returns; `signal` stays the caller's own. Tensors must be the backend's. */
export async function detach(where: string, backend: Backend | null, given: Arguments): Promise<Arguments> {
  const tensors = given.tensors.map((value, at) => detachOne(`${where}: argument ${at + 1}`, backend, value));
  const options = isOptions(given.options)
    ? Object.entries(given.options).map(([name, value]): [string, unknown] => [
        name,
        name === "signal" ? value : detachOne(`${where}: ${name}`, backend, value),
      ])
    : null;
  return {
    tensors: await Promise.all(tensors),
    options: options === null ? given.options : Object.fromEntries(await settled(options)),
  };
}

/** Copies of arrays; tensors and `signal` stay what they are. */
export function copyArguments({ tensors, options }: Arguments): Arguments {
  const own = isOptions(options)
    ? Object.entries(options).map(([name, value]) => [name, name === "signal" ? value : copyOne(value)])
    : null;
  return { tensors: tensors.map(copyOne), options: own === null ? options : Object.fromEntries(own) };
}

async function settled(entries: readonly (readonly [string, unknown])[]): Promise<[string, unknown][]> {
  return Promise.all(entries.map(async ([name, value]): Promise<[string, unknown]> => [name, await value]));
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
  if (copy === value && isTypedArray(value)) return [...value];
  return copy === value && isOptions(value) ? { ...value } : copy;
}
