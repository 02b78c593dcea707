// Of a loss that more is computed of: its gradient was made with it.

import type { Resident } from "../../backends/backend.js";
import { ELEMENTWISE } from "../../operations/training/elementwise.js";
import type { CrossEntropyProblem, ElementLossProblem } from "../../operations/training/losses.js";
import type { Adjoint, BackwardStep } from "../backward-step.js";

export const crossEntropy: Adjoint<CrossEntropyProblem> = (step) => loss(step, step.problem.logits.resident);

export const elementLoss: Adjoint<ElementLossProblem> = (step) => loss(step, step.problem.predictions.resident);

async function loss<P extends object>(step: BackwardStep<P>, x: Resident): Promise<void> {
  const [, gradient] = step.made;
  if (gradient === undefined) throw new TypeError("a loss has a gradient");
  const operands = [gradient, step.gradient];
  await step.give(x, await step.one(ELEMENTWISE, { function: "mul", operands, length: gradient.elements }));
}
