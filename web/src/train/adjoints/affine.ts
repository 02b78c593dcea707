// Of y = x W^T + b + addend: dX = dY W, dW = dY^T X, and db is the sum of the rows of dY.

import type { AffineProblem } from "../../operations/affine.js";
import { PRODUCT } from "../../operations/training/product.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const affine: Adjoint<AffineProblem> = async (step) => {
  const { input, weights, outputs, rule } = step.problem;
  if (rule.activation !== "none" || rule.factor !== null) throw new TypeError("an epilogue is a step of its own");
  const inputs = input.length;
  const left = rowsOf(step.gradient, outputs);
  await step.share(rule.addend?.resident, step.gradient);
  await step.share(rule.bias?.resident, step.gradient);
  await step.add(weights, (sum) => {
    return step.one(PRODUCT, { left, isTransposed: true, right: input, addend: sum && rowsOf(sum, inputs) });
  });
  await step.add(input.resident, (sum) => {
    const right = rowsOf(step.plain(weights), inputs);
    return step.one(PRODUCT, { left, isTransposed: false, right, addend: sum && rowsOf(sum, inputs) });
  });
};
