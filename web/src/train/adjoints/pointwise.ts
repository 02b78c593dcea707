// Of activation(x) * factor + addend.

import { HeedError } from "../../base/errors.js";
import { POINTWISE, type PointwiseProblem } from "../../operations/pointwise.js";
import { POINTWISE_BACKWARD } from "../../operations/training/pointwise-backward.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const pointwise: Adjoint<PointwiseProblem> = async (step) => {
  const { input: source, rule } = step.problem;
  const { activation, bias, factor, addend } = rule;
  if (bias !== null) throw new TypeError("a bias is the affine step's");
  await step.share(addend?.resident, step.gradient);
  if (activation === "none" && factor === null) return step.share(source.resident, step.gradient);
  const gradient = rowsOf(step.gradient, source.length);
  if (activation === "none" && !step.needs(factor?.resident)) {
    const product = { input: gradient, rule: { ...rule, addend: null } };
    return step.give(source.resident, await step.one(POINTWISE, product));
  }
  if (factor !== null && (factor.count !== source.count || factor.length !== source.length)) {
    throw new HeedError("unsupported", "gradients: a factor that learns must have the shape of what it multiplies");
  }
  const [ofSource, ofFactor] = await step.run(POINTWISE_BACKWARD, { gradient, source, factor, activation });
  await step.give(source.resident, ofSource);
  await step.give(factor?.resident, ofFactor);
};
