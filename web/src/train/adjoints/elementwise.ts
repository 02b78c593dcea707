// Of elementwise functions, and of dropout, which is its own.

import type { Resident } from "../../backends/backend.js";
import { COMBINE } from "../../operations/training/combine.js";
import {
  DROPOUT,
  type DropoutProblem,
  ELEMENTWISE,
  type ElementwiseFunction,
  type ElementwiseProblem,
} from "../../operations/training/elementwise.js";
import { vectorOf } from "../../operations/training/vectors.js";
import type { Adjoint, BackwardStep, Place } from "../backward-step.js";

export const elementwise: Adjoint<ElementwiseProblem> = async (step) => {
  const { function: name, operands, length } = step.problem;
  const [x, y, z] = operands;
  const [made] = step.made;
  const { gradient } = step;
  const of = (other: ElementwiseFunction, ...given: (Resident | undefined)[]): Promise<Resident> => {
    return step.one(ELEMENTWISE, { function: other, operands: given.filter((one) => one !== undefined), length });
  };
  const scaled = (by: number, given: Resident): Promise<Resident> => {
    return step.one(COMBINE, { x: vectorOf(given), y: null, a: by, b: 0 });
  };
  const give = async (place: Place, make: () => Promise<Resident>): Promise<void> => {
    if (step.needs(place)) await step.give(place, await make());
  };
  /** What is made of something that nobody needs then. */
  const then = async (first: Promise<Resident>, next: (made: Resident) => Promise<Resident>): Promise<Resident> => {
    const between = await first;
    const last = await next(between);
    step.free(between);
    return last;
  };
  switch (name) {
    case "add":
      await step.share(x, gradient);
      return step.share(y, gradient);
    case "sub":
      await step.share(x, gradient);
      return give(y, () => scaled(-1, gradient));
    case "mul":
      await give(x, () => of("mul", gradient, y));
      return give(y, () => of("mul", gradient, x));
    case "div":
      await give(x, () => of("div", gradient, y));
      return give(y, () =>
        then(
          then(of("mul", gradient, made), (top) => of("div", top, y)),
          (one) => scaled(-1, one),
        ),
      );
    case "select": {
      const zero = step.upload(new Float32Array(1));
      await give(y, () => of("select", x, gradient, zero));
      await give(z, () => of("select", x, zero, gradient));
      return step.free(zero);
    }
    case "exp":
      return give(x, () => of("mul", gradient, made));
    case "log":
      return give(x, () => of("div", gradient, x));
    case "sqrt":
      return give(x, () => then(of("div", gradient, made), (one) => scaled(0.5, one)));
    case "equal":
  }
};

export const dropout: Adjoint<DropoutProblem> = async (step: BackwardStep<DropoutProblem>) => {
  const { x } = step.problem;
  await step.give(x, await step.one(DROPOUT, { ...step.problem, x: step.gradient }));
};
