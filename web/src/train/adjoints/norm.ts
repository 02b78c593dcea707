// Of LayerNorm and RMSNorm.

import type { NormProblem } from "../../operations/norm.js";
import { NORM_BACKWARD } from "../../operations/training/norm-backward.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const norm: Adjoint<NormProblem> = async (step) => {
  const { input, isCentred, epsilon, weight, bias } = step.problem;
  const gradient = rowsOf(step.gradient, input.length);
  const problem = { input, weight, gradient, isCentred, epsilon };
  const [ofInput, ofWeight, ofBias] = await step.run(NORM_BACKWARD, problem);
  await step.give(input.resident, ofInput);
  await step.give(weight?.resident, ofWeight);
  await step.give(bias?.resident, ofBias);
};
