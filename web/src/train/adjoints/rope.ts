// Of rotary embedding: the gradient turns back.

import { ROPE, type RopeProblem } from "../../operations/rope.js";
import { placed } from "../../operations/rows.js";
import { type Adjoint, placeOf } from "../backward-step.js";

export const rope: Adjoint<RopeProblem> = async (step) => {
  const { problem } = step;
  const turned = { ...problem, input: placed(problem.input, step.gradient), inverse: !problem.inverse };
  await step.give(placeOf(problem.input), await step.one(ROPE, turned));
};
