// Of y = x W^T + b + addend with stored weights, which do not learn: dX = dY W, and db is the sum of the rows of dY.

import type { NarrowAffineProblem } from "../../operations/narrow/narrow-affine.js";
import { NARROW_PRODUCT } from "../../operations/narrow/narrow-product.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const narrowAffine: Adjoint<NarrowAffineProblem> = async (step) => {
  const { input, weights, outputs, rule } = step.problem;
  if (rule.activation !== "none" || rule.factor !== null) throw new TypeError("an epilogue is a step of its own");
  const inputs = input.length;
  const left = rowsOf(step.gradient, outputs);
  await step.share(rule.addend?.resident, step.gradient);
  await step.share(rule.bias?.resident, step.gradient);
  await step.add(input.resident, (sum) => {
    return step.one(NARROW_PRODUCT, { left, weights, inputs, addend: sum && rowsOf(sum, inputs) });
  });
};
