// Arguments as plain copies that need no engine, for a call that has to wait while its caller may write on.

import type { Backend } from "../backends/backend.js";
import { copyOperand, copyOptions } from "./copies.js";
import { isOptions } from "./read-values.js";
import { Tensor } from "./tensor.js";

/** The unchecked arguments of an operation that takes tensors and then options. */
export interface Arguments {
  readonly tensors: readonly unknown[];
  readonly options: unknown;
}

/** Copies are made before this returns; `signal` stays the caller's own. Tensors must be the backend's. */
export async function detach(where: string, backend: Backend | null, given: Arguments): Promise<Arguments> {
  const read = (value: unknown, what: unknown): unknown => {
    if (!(value instanceof Tensor)) return value;
    Tensor.residentOf(value, backend, `${where}: ${what}`);
    return value.read().then((data) => ({ data, shape: value.shape }));
  };
  const tensors = given.tensors.map((value, at) => read(copyOperand(value), `argument ${at + 1}`));
  const options = copyOptions(given.options);
  const named = isOptions(options) ? Object.entries(options).map(([name, value]) => [name, read(value, name)]) : null;
  const values = await Promise.all(named?.map(([, value]) => value) ?? []);
  return {
    tensors: await Promise.all(tensors),
    options: named === null ? options : Object.fromEntries(named.map(([name], at) => [name, values[at]])),
  };
}
