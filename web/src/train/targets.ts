// The classes that logits should have given.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { isRecord } from "../api/read-values.js";
import { numbersOf } from "../api/typed-array.js";

/** Class numbers, bare or with a shape. */
export type { IndexInput } from "../layers/embedding.js";

export function readTargets(
  where: string,
  value: unknown,
  { count, classes, ignored }: { readonly count: number; readonly classes: number; readonly ignored: number },
): Int32Array<ArrayBuffer> {
  const numbers = numbersOf(isRecord(value) && "data" in value ? value["data"] : value);
  if (numbers === null) {
    throw new HeedError(
      "option",
      `${where}: targets must be class numbers, or { data, shape }, got ${showValue(value)}`,
    );
  }
  if (numbers.length !== count) {
    throw new HeedError("shape", `${where}: targets must be one a row of the logits, ${count}, got ${numbers.length}`);
  }
  const at = numbers.findIndex((one) => one !== ignored && !(Number.isInteger(one) && one >= 0 && one < classes));
  if (at !== -1) {
    const rule = `targets must be whole numbers from 0 to below ${classes}, or ${ignored}`;
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(numbers[at])} at ${at}`);
  }
  if (numbers.every((one) => one === ignored)) {
    throw new HeedError("option", `${where}: at least one target must count, all ${count} are ${ignored}`);
  }
  return Int32Array.from(numbers);
}
