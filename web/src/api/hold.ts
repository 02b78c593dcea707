// Arguments for a call that has to wait, while its caller may write to arrays and dispose of tensors.

import type { Backend } from "../backends/backend.js";
import { copyOperand, copyOptions } from "./copies.js";
import { isOptions } from "./read-values.js";
import { Tensor } from "./tensor.js";

/** The unchecked arguments of an operation that takes tensors and then options. */
export interface Arguments {
  readonly tensors: readonly unknown[];
  readonly options: unknown;
}

/** Arrays are copied, and tensors, which must be the backend's, are shared until `release`. */
export function hold(where: string, backend: Backend | null, given: Arguments): Arguments & { release(): void } {
  const shared: Tensor[] = [];
  const held = (value: unknown, what: unknown): unknown => {
    if (!(value instanceof Tensor)) return value;
    const tensor = Tensor.share(value, backend, `${where}: ${what}`);
    shared.push(tensor);
    return tensor;
  };
  const options = copyOptions(given.options);
  return {
    tensors: given.tensors.map((value, at) => held(copyOperand(value), `argument ${at + 1}`)),
    options: isOptions(options)
      ? Object.fromEntries(Object.entries(options).map(([name, value]) => [name, held(value, name)]))
      : options,
    release: () => {
      for (const tensor of shared) tensor.dispose();
    },
  };
}
