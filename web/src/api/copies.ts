// Plain copies of the arguments of attention, for a call that has to wait while its caller may write to them.

import { ATTENTION_OPTIONS, BLOCK_OPTIONS, DROPOUT_OPTIONS, RETURN_OPTIONS, WEIGHT_OPTIONS } from "./options.js";
import { isOptions, isRecord } from "./read-values.js";
import { Tensor } from "./tensor.js";
import {
  copyF16,
  isFloat16Array,
  isFloat32Array,
  isTypedArray,
  isUint8Array,
  isUint16Array,
  plainBytes,
  plainF32,
} from "./typed-array.js";

/** The names by which options are read. Keys of an object do not include those on its prototype. */
const NAMES = [
  ...ATTENTION_OPTIONS,
  ...RETURN_OPTIONS,
  ...WEIGHT_OPTIONS,
  ...DROPOUT_OPTIONS,
  ...BLOCK_OPTIONS,
  "type",
];

/** Copies the numbers of a tensor, mask, bias or shape. Anything else is returned as it is, and validation refuses it. */
export function copyOperand(value: unknown): unknown {
  if (isFloat32Array(value)) return plainF32(value).slice();
  if (isUint8Array(value)) return plainBytes(value).slice();
  if (isFloat16Array(value) || isUint16Array(value)) return copyF16(value);
  if (Array.isArray(value)) return value.slice();
  if (isTypedArray(value)) return [...value];
  if (!isRecord(value) || !("data" in value)) return value;
  return { data: copyOperand(value["data"]), shape: copyOperand(value["shape"]), dtype: value["dtype"] };
}

/** Copies options and reads each once. `out`, `signal` and `cache` are not copied. */
export function copyOptions(options: unknown): unknown {
  return isOptions(options) ? copyNamed(options, DEEPEST) : options;
}

const NOT_COPIED = ["out", "signal", "cache"];

/** How deep options nest, as in `return.weights.rows`. */
const DEEPEST = 4;

function copyNamed(options: Readonly<Record<string, unknown>>, depth: number): unknown {
  const copy: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(options), ...NAMES])) {
    if (!(name in options)) continue;
    const value = options[name];
    copy[name] = NOT_COPIED.includes(name) ? value : copyOption(value, depth - 1);
  }
  return copy;
}

function copyOption(value: unknown, depth: number): unknown {
  const operand = copyOperand(value);
  const isInner = operand === value && isOptions(value) && !(value instanceof Tensor) && depth > 0;
  return isInner ? copyNamed(value, depth) : operand;
}
