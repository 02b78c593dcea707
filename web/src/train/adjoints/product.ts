// Of C = A B: dA = dC B^T, and dB = A^T dC.

import type { Resident } from "../../backends/backend.js";
import { MOVE } from "../../operations/training/move.js";
import { type Matrices, PRODUCT, type ProductProblem } from "../../operations/training/product.js";
import type { Adjoint } from "../backward-step.js";

export const product: Adjoint<ProductProblem> = async (step) => {
  const { left, right, products = 1 } = step.problem;
  const gradient: Matrices = { resident: step.gradient, count: left.count, length: right.length };
  const multiply = (a: Matrices, b: Matrices, isTransposed: boolean): Promise<Resident> => {
    return step.one(PRODUCT, { left: a, right: b, isTransposed, addend: null, products });
  };
  if (step.needs(left.resident)) {
    const { resident: input, count, length, isOne } = right;
    const move = { kind: "turn", shape: [input.elements / count / length, count, length], order: [0, 2, 1] } as const;
    const turned = await step.one(MOVE, { input, move });
    const other = { resident: turned, count: length, length: count, ...(isOne && { isOne }) };
    await step.give(left.resident, await multiply(gradient, other, false));
    step.free(turned);
  }
  if (step.needs(right.resident)) await step.give(right.resident, await multiply(left, gradient, true));
};
