// Arguments for a call that has to wait, while its caller may write to arrays and dispose of tensors.

import { isOptions, isRecord } from "../base/read-values.js";
import {
  copyF16,
  isFloat16Array,
  isFloat32Array,
  isUint8Array,
  isUint16Array,
  listOf,
  plainBytes,
  plainF32,
} from "../base/typed-array.js";
import { Tensor } from "./tensor.js";

/** The unchecked arguments of an operation that takes tensors and then options. */
export interface Arguments {
  readonly tensors: readonly unknown[];
  readonly options: unknown;
}

const NOT_COPIED = ["out", "signal", "cache"];

/** How deep options nest, as in `return.weights.rows`. */
const DEEPEST = 4;

export interface Held extends Arguments {
  release(): void;
}

/** Copies arrays, and shares tensors until `release`. Each option is read once; `out`, `signal` and `cache` are not copied. */
export function hold(given: Arguments, numbers = copyNumbers): Held {
  const shared: Tensor[] = [];
  const operand = (value: unknown): unknown => {
    if (Tensor.is(value)) {
      const tensor = Tensor.share(value);
      shared.push(tensor);
      return tensor;
    }
    if (!isRecord(value) || !("data" in value)) return numbers(value);
    return { data: numbers(value["data"]), shape: copyNumbers(value["shape"]), dtype: value["dtype"] };
  };
  const named = (value: unknown, depth: number): unknown => {
    if (!isOptions(value) || Tensor.is(value) || "data" in value || depth === 0) return operand(value);
    const copy = {};
    // What its prototypes have may be read as well, but is not among its keys.
    for (let at: unknown = value; isRecord(at); at = Object.getPrototypeOf(at)) {
      for (const name of Object.getOwnPropertyNames(at)) {
        if (name in copy) continue;
        const inner = value[name];
        const held = NOT_COPIED.includes(name) ? inner : named(inner, depth - 1);
        Object.defineProperty(copy, name, { value: held, enumerable: at === value });
      }
    }
    return copy;
  };
  return {
    tensors: given.tensors.map(operand),
    options: named(given.options, DEEPEST),
    release: () => {
      for (const tensor of shared) tensor.dispose();
    },
  };
}

/** Copies an array. Anything else is returned as it is, and validation refuses it. */
function copyNumbers(value: unknown): unknown {
  if (isFloat32Array(value)) return plainF32(value).slice();
  if (isUint8Array(value)) return plainBytes(value).slice();
  if (isFloat16Array(value) || isUint16Array(value)) return copyF16(value);
  return listOf(value) ?? value;
}
