// Elementwise functions in a pass, with NumPy's broadcasting.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import type { Scope } from "../../layers/scope.js";
import { POINTWISE } from "../../operations/pointwise.js";
import { ELEMENTWISE, type ElementwiseFunction } from "../../operations/training/elementwise.js";
import { rowsOf } from "../../operations/training/vectors.js";
import { moved } from "./shapes.js";
import { residentOf } from "./values.js";

/** The last three are activations of layers too. */
export type Unary = "exp" | "log" | "sqrt" | "relu" | "tanh" | "sigmoid";

export function unary(scope: Scope, name: Unary, x: Tensor): Promise<Tensor> {
  if (name === "exp" || name === "log" || name === "sqrt") return elementwise(scope, name, [x], x.shape);
  const rule = { activation: name, bias: null, factor: null, addend: null };
  return scope.make(POINTWISE, { input: rowsOf(residentOf(scope, x), x.shape.at(-1) ?? 1), rule }, x.shape);
}

/** A function of tensors that broadcast to one shape. */
export async function broadcast(
  scope: Scope,
  where: string,
  name: ElementwiseFunction,
  tensors: readonly Tensor[],
): Promise<Tensor> {
  const shape = broadcastShape(where, tensors);
  const operands: Tensor[] = [];
  for (const tensor of tensors) operands.push(await repeated(scope, tensor, shape));
  return elementwise(scope, name, operands, shape);
}

function elementwise(
  scope: Scope,
  name: ElementwiseFunction,
  tensors: readonly Tensor[],
  shape: readonly number[],
): Promise<Tensor> {
  const operands = tensors.map((tensor) => residentOf(scope, tensor));
  return scope.make(ELEMENTWISE, { function: name, operands, length: product(shape) }, shape);
}

/** NumPy's shape of tensors of these shapes. */
export function broadcastShape(where: string, tensors: readonly Pick<Tensor, "shape">[]): readonly number[] {
  const rank = Math.max(...tensors.map(({ shape }) => shape.length));
  return Array.from({ length: rank }, (_, axis) => {
    const sizes = tensors.map(({ shape }) => shape[axis - rank + shape.length] ?? 1);
    const size = Math.max(...sizes);
    if (sizes.every((one) => one === 1 || one === size)) return size;
    const got = tensors.map(({ shape }) => showShape(shape)).join(" and ");
    throw new HeedError("shape", `${where}: shapes must be equal or 1 on each axis, from the last, got ${got}`);
  });
}

/** A tensor whose numbers, one after the other, are those of `shape`, or repeat to be. */
async function repeated(scope: Scope, x: Tensor, shape: readonly number[]): Promise<Tensor> {
  const first = x.shape.findIndex((size) => size !== 1);
  const own = first === -1 ? [] : x.shape.slice(first);
  const to = shape.slice(shape.length - own.length);
  if (own.join() === to.join()) return x;
  return moved(scope, x, { kind: "repeat", shape: own, to });
}
