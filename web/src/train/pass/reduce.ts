// Sums, means and largest numbers over axes, softmax and L2 norms in a pass.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { listOf } from "../../base/typed-array.js";
import type { Scope } from "../../layers/scope.js";
import { NORM } from "../../operations/norm.js";
import { ROW_SUMS } from "../../operations/training/row-sums.js";
import { SOFTMAX } from "../../operations/training/softmax.js";
import { rowsOf } from "../../operations/training/vectors.js";
import { widthOf } from "../sums.js";
import { byLastAxis, readAxis, turned } from "./shapes.js";
import { residentOf } from "./values.js";

/** Over which axis a sum, a mean or a maximum goes. */
export interface ReduceOptions {
  /** One axis or several, from the end where they are negative. Default all. */
  readonly axis?: number | readonly number[] | undefined;
  /** Whether they stay, with a size of 1. Default false. */
  readonly keepDims?: boolean | undefined;
}

/** The axes of a reduction, and how many numbers it takes to one. */
export interface Reduction {
  readonly axes: ReadonlySet<number>;
  readonly count: number;
  readonly keepDims: boolean;
}

export function readReduction(where: string, { shape }: Tensor, axis: unknown, keepDims: boolean): Reduction {
  const rank = shape.length;
  const given = axis === undefined ? [...shape.keys()] : typeof axis === "number" ? [axis] : listOf(axis, rank);
  if (given === null || (given.length === 0 && rank > 0)) {
    throw new HeedError("option", `${where}: axis must be an axis or an array of axes, got ${showValue(axis)}`);
  }
  const axes = new Set(given.map((one) => readAxis(where, one, rank)));
  return { axes, count: [...axes].reduce((total, one) => total * (shape[one] ?? 1), 1), keepDims };
}

/** The sum, or the largest, of the numbers along axes. */
export async function reduced(
  scope: Scope,
  x: Tensor,
  { axes, count, keepDims }: Reduction,
  isMaximum: boolean,
): Promise<Tensor> {
  const all = [...x.shape.keys()];
  const kept = all.filter((axis) => !axes.has(axis));
  const shape = x.shape.flatMap((size, axis) => (axes.has(axis) ? (keepDims ? [1] : []) : [size]));
  let rows = await turned(scope, x, [...all.filter((axis) => axes.has(axis)), ...kept]);
  const length = product(kept.map((axis) => x.shape[axis] ?? 1));
  // Sums of wide rows come first: a row of one number would leave most of a vector empty.
  // Largest numbers have no second step, in which those that are equally large would not share alike.
  const width = isMaximum ? length : widthOf(length, count);
  for (const columns of width === length ? [length] : [width, length]) {
    const problem = { rows: rowsOf(residentOf(scope, rows), columns), addend: null, isMaximum };
    rows = await scope.make(ROW_SUMS, problem, columns === length ? shape : [columns]);
  }
  return rows;
}

export function softmax(scope: Scope, x: Tensor, axis: number): Promise<Tensor> {
  return byLastAxis(scope, x, axis, (last) => {
    return scope.make(SOFTMAX, { rows: rowsOf(residentOf(scope, last), lastOf(last)), gradient: null }, last.shape);
  });
}

/** x / sqrt(sum of squares + epsilon^2) along an axis, which is an RMSNorm. */
export function normalize(scope: Scope, x: Tensor, axis: number, epsilon: number): Promise<Tensor> {
  return byLastAxis(scope, x, axis, (last) => {
    const length = lastOf(last);
    const weight = scope.upload(new Float32Array(length).fill(1 / Math.sqrt(length)), [length]);
    const input = rowsOf(residentOf(scope, last), length);
    const rule = { isCentred: false, epsilon: epsilon ** 2 / length, bias: null };
    return scope.make(NORM, { input, ...rule, weight: rowsOf(residentOf(scope, weight), length) }, last.shape);
  });
}

const lastOf = ({ shape }: Tensor): number => shape.at(-1) ?? 1;
