// The classes that logits should have given.

import { checkRoom, product, readShape } from "../api/operands.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";

/** A copy of the targets, which the caller may change as soon as the call has returned. Lists that are shorter than the longest end with `ignored`. */
export function readTargets(where: string, value: unknown, ignored: number): readonly number[] {
  if (!Array.isArray(value) || !isRecord(value[0])) return readList(where, value);
  const lists: (readonly number[])[] = [];
  const { length: count } = value;
  for (let at = 0; at < count; at++) lists.push(readList(where, value[at]));
  const length = lists.reduce((most, list) => Math.max(most, list.length), 0);
  checkRoom(where, "targets", [count, length]);
  return lists.flatMap((list) => [...list, ...Array<number>(length - list.length).fill(ignored)]);
}

function readList(where: string, value: unknown): readonly number[] {
  const numbers = numbersOf(isRecord(value) && "data" in value ? value["data"] : value);
  if (numbers === null) {
    throw new HeedError(
      "option",
      `${where}: targets must be class numbers, lists of them, or { data, shape }, got ${showValue(value)}`,
    );
  }
  const shape = isRecord(value) && value["shape"] !== undefined ? readShape(where, "targets", value["shape"]) : null;
  if (shape !== null && product(shape) !== numbers.length) {
    const rule = `targets of shape ${showShape(shape)} must have ${product(shape)} elements`;
    throw new HeedError("shape", `${where}: ${rule}, got ${numbers.length}`);
  }
  return numbers;
}

/** The targets as the kernel takes them. Throws unless there is one a row of the logits, and each is a class or ignored. */
export function classesOf(
  where: string,
  numbers: readonly number[],
  { count, classes, ignored }: { readonly count: number; readonly classes: number; readonly ignored: number },
): Int32Array<ArrayBuffer> {
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
