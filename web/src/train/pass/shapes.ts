// Shapes in a pass: other shapes of the same numbers, axes in another order, tensors side by side, parts of them.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { listOf } from "../../base/typed-array.js";
import type { Scope } from "../../layers/scope.js";
import { axesOf, JOIN, MOST_JOINED, MOST_MOVED, MOVE, type Move, movedShape } from "../../operations/training/move.js";
import { reshaped, residentOf } from "./values.js";

export function moved(scope: Scope, x: Tensor, move: Move, where = "heed/train"): Promise<Tensor> {
  if (axesOf(move).length > MOST_MOVED) {
    const rule = `at most ${MOST_MOVED} axes may be apart from each other`;
    throw new HeedError("unsupported", `${where}: ${rule}, got ${showShape(move.shape)}`);
  }
  return scope.make(MOVE, { input: residentOf(scope, x), move }, movedShape(move));
}

/** An axis, counted from the end where it is negative. */
export function readAxis(where: string, value: unknown, rank: number): number {
  const axis = typeof value === "number" && value < 0 ? value + rank : value;
  if (typeof axis === "number" && Number.isInteger(axis) && axis >= 0 && axis < rank) return axis;
  throw new HeedError("option", `${where}: axis must be below ${rank}, the number of axes, got ${showValue(value)}`);
}

export function reshape(scope: Scope, where: string, x: Tensor, given: unknown): Promise<Tensor> {
  const isSize = (size: unknown): boolean => Number.isInteger(size) && Number(size) >= -1;
  const sizes = listOf<number>(given, MOST_MOVED * MOST_MOVED, isSize);
  const count = product(x.shape);
  const rest = sizes === null ? 0 : count / Math.abs(product(sizes));
  const shape = sizes?.map((size) => (size === -1 ? rest : size)) ?? [];
  const isOne = sizes !== null && sizes.filter((size) => size === -1).length <= 1;
  if (isOne && Number.isInteger(rest) && product(shape) === count) return reshaped(scope, x, shape);
  const rule = `shape must have the ${count} numbers of ${showShape(x.shape)}, and -1 once at most`;
  throw new HeedError("shape", `${where}: ${rule}, got ${showValue(given)}`);
}

/** `axes`: undefined for all of them in reverse. */
export function transpose(scope: Scope, where: string, x: Tensor, axes: unknown): Promise<Tensor> {
  const rank = x.shape.length;
  const given = axes === undefined ? [...x.shape.keys()].reverse() : listOf<number>(axes, rank);
  const order = given?.map((axis) => readAxis(where, axis, rank)) ?? [];
  if (new Set(order).size !== rank || order.length !== rank) {
    const rule = `axes must name each axis of ${showShape(x.shape)} once`;
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(axes)}`);
  }
  return turned(scope, x, order, where);
}

export async function turned(scope: Scope, x: Tensor, order: readonly number[], where?: string): Promise<Tensor> {
  if (order.every((axis, at) => axis === at)) return x;
  return moved(scope, x, { kind: "turn", shape: x.shape, order }, where);
}

/** An axis at the end, for an operation of rows, and back where it was. */
export async function byLastAxis(
  scope: Scope,
  x: Tensor,
  axis: number,
  act: (x: Tensor) => Promise<Tensor>,
): Promise<Tensor> {
  const axes = [...x.shape.keys()];
  const made = await act(await turned(scope, x, [...axes.filter((one) => one !== axis), axis]));
  return turned(
    scope,
    made,
    axes.map((one) => (one === axis ? axes.length - 1 : one < axis ? one : one - 1)),
  );
}

export async function concat(scope: Scope, where: string, tensors: readonly Tensor[], given: unknown): Promise<Tensor> {
  const [first] = tensors;
  if (first === undefined) throw new HeedError("option", `${where}: there must be a tensor at least, got none`);
  const axis = readAxis(where, given, first.shape.length);
  const othersOf = ({ shape }: Tensor): string => shape.map((size, at) => (at === axis ? "" : size)).join();
  if (tensors.some((tensor) => othersOf(tensor) !== othersOf(first))) {
    const got = tensors.map(({ shape }) => showShape(shape)).join(", ");
    throw new HeedError("shape", `${where}: shapes must be equal but on axis ${axis}, got ${got}`);
  }
  if (tensors.length === 1) return first;
  const rows = product(first.shape.slice(0, axis));
  let all = tensors;
  while (all.length > 1) {
    const joined: Tensor[] = [];
    for (let at = 0; at < all.length; at += MOST_JOINED) {
      const some = all.slice(at, at + MOST_JOINED);
      const size = some.reduce((sum, { shape }) => sum + (shape[axis] ?? 0), 0);
      const shape = first.shape.map((own, one) => (one === axis ? size : own));
      const inputs = some.map((tensor) => residentOf(scope, tensor));
      joined.push(some.length === 1 ? (some[0] ?? first) : await scope.make(JOIN, { inputs, rows }, shape));
    }
    all = joined;
  }
  return all[0] ?? first;
}

/** Which part of an axis `pass.slice` takes. */
export interface SliceOptions {
  /** Default 0. */
  readonly axis?: number | undefined;
  /** The first index, from the end where it is negative. Default 0. */
  readonly from?: number | undefined;
  /** The index before which it ends, likewise. Default the end. */
  readonly to?: number | undefined;
}

export async function slice(
  scope: Scope,
  where: string,
  x: Tensor,
  { axis: given = 0, from: first = 0, to: last }: Readonly<Record<string, unknown>>,
): Promise<Tensor> {
  const axis = readAxis(where, given, x.shape.length);
  const size = x.shape[axis] ?? 0;
  const place = (value: unknown): number => (typeof value !== "number" ? Number.NaN : value < 0 ? value + size : value);
  const [from, to] = [place(first), last === undefined ? size : place(last)];
  if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from < to && to <= size)) {
    const rule = `from and to must be a range of the ${size} indices of axis ${axis}`;
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(first)} and ${showValue(last)}`);
  }
  if (from === 0 && to === size) return x;
  return moved(scope, x, { kind: "cut", shape: x.shape, axis, from, to }, where);
}
