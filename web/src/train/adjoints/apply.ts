// Of an operation of the caller's.

import type { Adjoint } from "../backward-step.js";
import { type ApplyProblem, applyBackward } from "../pass/apply.js";

export const apply: Adjoint<ApplyProblem> = async (step) => {
  const gradients = await applyBackward(step.problem, await step.read(step.gradient));
  for (const [at, { resident }] of step.problem.inputs.entries()) {
    const gradient = gradients[at];
    if (gradient) await step.give(resident, step.upload(gradient));
  }
};
