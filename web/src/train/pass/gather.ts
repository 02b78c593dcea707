// Entries of an axis by their indices in a pass.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { HeedError } from "../../base/errors.js";
import { type Indices as ReadIndices, readIndices as readAll } from "../../layers/embedding.js";
import type { Scope } from "../../layers/scope.js";
import { GATHER } from "../../operations/gather.js";
import { readAxis, turned } from "./shapes.js";
import { residentOf } from "./values.js";

/** Whole numbers, in an array or as { data, shape }. */
export type Indices =
  | readonly number[]
  | Int32Array
  | { readonly data: readonly number[] | Int32Array; readonly shape: readonly number[] };

/** A copy, which the caller may change meanwhile. */
export function readIndices(where: string, value: unknown): ReadIndices {
  const read = readAll(where, "indices", value);
  if (read.data.length > 0) return read;
  throw new HeedError("option", `${where}: indices must have a number at least, got none`);
}

/** The axis gives way to those of the indices. */
export async function gather(
  scope: Scope,
  where: string,
  x: Tensor,
  { data: indices, shape }: ReadIndices,
  given: unknown,
): Promise<Tensor> {
  const axis = readAxis(where, given, x.shape.length);
  const count = x.shape[axis] ?? 0;
  const wrong = indices.findIndex((index) => index >= count);
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
