// Entries of an axis by their indices in a pass.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isRecord } from "../../base/read-values.js";
import { listOf, numbersOf } from "../../base/typed-array.js";
import type { Scope } from "../../layers/scope.js";
import { GATHER } from "../../operations/gather.js";
import { readAxis, turned } from "./shapes.js";
import { residentOf } from "./values.js";

/** Whole numbers, in an array or as { data, shape }. */
export type Indices =
  | readonly number[]
  | Int32Array
  | { readonly data: readonly number[] | Int32Array; readonly shape: readonly number[] };

export interface ReadIndices {
  readonly indices: Int32Array<ArrayBuffer>;
  readonly shape: readonly number[];
}

/** A copy, which the caller may change meanwhile. */
export function readIndices(where: string, value: unknown): ReadIndices {
  const hasShape = isRecord(value) && "data" in value;
  const numbers = numbersOf(hasShape ? value["data"] : value);
  const shape = hasShape ? listOf<number>(value["shape"], 64) : [numbers?.length ?? 0];
  if (numbers !== null && shape !== null && numbers.length > 0 && product(shape) === numbers.length) {
    return { indices: Int32Array.from(numbers), shape };
  }
  const rule = "indices must be whole numbers, one at least, in an array or as { data, shape }";
  throw new HeedError("option", `${where}: ${rule}, got ${showValue(value)}`);
}

/** The axis gives way to those of the indices. */
export async function gather(
  scope: Scope,
  where: string,
  x: Tensor,
  { indices, shape }: ReadIndices,
  given: unknown,
): Promise<Tensor> {
  const axis = readAxis(where, given, x.shape.length);
  const count = x.shape[axis] ?? 0;
  const wrong = indices.findIndex((index) => !(index >= 0 && index < count));
  if (wrong !== -1) {
    const rule = `indices must be from 0 to below ${count}, the size of axis ${axis}`;
    throw new HeedError("option", `${where}: ${rule}, got ${indices[wrong]} at ${wrong}`);
  }
  const axes = [...x.shape.keys()];
  const first = await turned(scope, x, [axis, ...axes.filter((one) => one !== axis)], where);
  const table = { resident: residentOf(scope, first), count, length: product(x.shape) / count };
  const made = await scope.make(GATHER, { table, indices }, [...shape, ...first.shape.slice(1)]);
  const rank = shape.length;
  const others = axes.slice(1).map((one) => one - 1 + rank);
  return turned(scope, made, [...others.slice(0, axis), ...Array(rank).keys(), ...others.slice(axis)], where);
}
