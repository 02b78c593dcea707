// Walks the steps of a pass back: each by the adjoint of its operation, a block by computing it again.

import { HeedError } from "../base/errors.js";
import type { Block, Step } from "../layers/tape.js";
import { ADJOINTS } from "./adjoints/table.js";
import type { BackwardPass } from "./backward-pass.js";
import { type Adjoint, BackwardStep } from "./backward-step.js";

export async function runBackward(backward: BackwardPass, steps: readonly (Step | Block)[]): Promise<void> {
  for (const step of [...steps].reverse()) {
    if (step.made.some((made) => backward.of(made) !== null)) {
      await ("again" in step ? blockBackward(backward, step) : stepBackward(backward, step));
    }
    for (const made of step.made) backward.drop(made);
  }
}

async function blockBackward(backward: BackwardPass, { again, made }: Block): Promise<void> {
  const steps: (Step | Block)[] = [];
  await again(backward.recorder.blockTape(steps), async (results) => {
    for (const [at, result] of results.entries()) {
      const gradient = made[at] && backward.of(made[at]);
      if (gradient) backward.set(result, gradient);
    }
    await runBackward(backward, steps);
  });
}

async function stepBackward(backward: BackwardPass, step: Step): Promise<void> {
  const adjoint = "adjoint" in step.operation ? step.operation.adjoint : ADJOINTS.get(step.operation);
  if (adjoint === undefined) throw new HeedError("unsupported", `gradients: none go through ${step.operation.name}`);
  // The table has each adjoint beside its own operation, and so has an operation that is loaded when it is first called.
  await (adjoint as Adjoint<never>)(new BackwardStep(backward, step) as BackwardStep<never>);
}
