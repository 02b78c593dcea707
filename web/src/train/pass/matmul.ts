// Products of matrices in a pass, as NumPy's matmul.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import type { Scope } from "../../layers/scope.js";
import { type Matrices, PRODUCT } from "../../operations/training/product.js";
import { broadcastShape } from "./elementwise.js";
import { moved, turned } from "./shapes.js";
import { residentOf } from "./values.js";

/** The options of `pass.matmul`. */
export interface MatmulOptions {
  /** Whether the last two axes of `a` change places before. Default false. */
  readonly transposeA?: boolean | undefined;
  /** The same of `b`. */
  readonly transposeB?: boolean | undefined;
}

/** a [..., M, K] times b [..., K, N]; the axes before broadcast. */
export async function matmul(scope: Scope, where: string, a: Tensor, b: Tensor): Promise<Tensor> {
  const [rows = 0, depth = 0] = a.shape.slice(-2);
  const [inner = 0, columns = 0] = b.shape.slice(-2);
  if (a.shape.length < 2 || b.shape.length < 2 || depth !== inner) {
    const got = `got ${showShape(a.shape)} and ${showShape(b.shape)}`;
    throw new HeedError("shape", `${where}: a must be [..., M, K] and b [..., K, N], ${got}`);
  }
  const [ofA, ofB] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
  const leading = broadcastShape(where, [{ shape: ofA }, { shape: ofB }]);
  const shape = [...leading, rows, columns];
  const products = product(leading);
  if (product(ofB) === 1) {
    const left = { resident: residentOf(scope, a), count: products * rows, length: depth };
    return multiplied(scope, left, { resident: residentOf(scope, b), count: depth, length: columns }, 1, shape);
  }
  const left = await matricesOf(scope, a, leading);
  const right = await matricesOf(scope, b, leading);
  return multiplied(scope, left, right, products, shape);
}

function multiplied(
  scope: Scope,
  left: Matrices,
  right: Matrices,
  products: number,
  shape: readonly number[],
): Promise<Tensor> {
  return scope.make(PRODUCT, { left, right, isTransposed: false, addend: null, products }, shape);
}

/** One for each product, or one for all. */
async function matricesOf(scope: Scope, x: Tensor, leading: readonly number[]): Promise<Matrices> {
  const [count = 0, length = 0] = x.shape.slice(-2);
  const own = x.shape.slice(0, -2);
  const isOne = product(own) === 1;
  const ones = Array<number>(leading.length - own.length).fill(1);
  const isWhole = isOne || product(own) === product(leading);
  const to = [...leading, count, length];
  const whole = isWhole ? x : await moved(scope, x, { kind: "repeat", shape: [...ones, ...x.shape], to });
  return { resident: residentOf(scope, whole), count, length, isOne };
}

/** With its last two axes in the other order. */
export function transposed(scope: Scope, where: string, x: Tensor): Promise<Tensor> {
  const rank = x.shape.length;
  if (rank < 2) throw new HeedError("shape", `${where}: a matrix must have two axes, got ${showShape(x.shape)}`);
  return turned(scope, x, [...x.shape.keys()].slice(0, -2).concat(rank - 1, rank - 2), where);
}
