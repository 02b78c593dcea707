// Linear attention and rotary embedding in a pass. It is loaded at the first call of one.

import { checkLinear, LINEAR_OPTIONS } from "../../api/operations/linear-attention.js";
import { checkRope } from "../../api/operations/rope.js";
import type { Tensor } from "../../api/tensor.js";
import type { Operation } from "../../backends/backend.js";
import { readRecord } from "../../base/read-values.js";
import type { Scope } from "../../layers/scope.js";
import { LINEAR_ATTENTION, type LinearProblem } from "../../operations/linear-attention.js";
import { LINEAR_VJP } from "../../operations/linear-vjp.js";
import { ROPE, type RopeProblem } from "../../operations/rope.js";
import { placed } from "../../operations/rows.js";
import { rope as ropeAdjoint } from "../adjoints/rope.js";
import { type Adjoint, placeOf } from "../backward-step.js";

const PLACES = ["query", "key", "value", "decay", "beta", "state"] as const;

const linearAdjoint: Adjoint<LinearProblem> = async (step) => {
  const { problem, gradients } = step;
  const [ofOutput, ofState = null] = gradients;
  const wanted = PLACES.filter((name) => step.needs(placeOf(problem[name])));
  const zeros = ofOutput ? null : step.upload(new Float32Array(problem.output.elements));
  const outputGradient = ofOutput ?? zeros;
  if (!outputGradient) throw new TypeError("an output has a gradient, or zeros");
  const made = await step.run(LINEAR_VJP, {
    forward: problem,
    outputGradient: placed(problem.output, outputGradient),
    newStateGradient: ofState && placed(problem.newState, ofState),
    wanted,
  });
  if (zeros) step.free(zeros);
  for (const [at, name] of wanted.entries()) await step.give(placeOf(problem[name]), made[at]);
};

/** The bundle may have a copy of these operations here, which the table of adjoints does not know. */
type Recorded<P extends object> = Operation<P> & { readonly adjoint: Adjoint<P> };

const LINEAR: Recorded<LinearProblem> = { ...LINEAR_ATTENTION, adjoint: linearAdjoint };
const TURNED: Recorded<RopeProblem> = { ...ROPE, adjoint: ropeAdjoint };

/** `options`: those of `linearAttention`, with tensors of the pass. */
export async function linearAttention(
  scope: Scope,
  where: string,
  tensors: readonly Tensor[],
  options: Readonly<Record<string, unknown>>,
): Promise<{ readonly output: Tensor; readonly state: Tensor }> {
  const given = { ...readRecord(where, "options", options, LINEAR_OPTIONS), keep: true };
  const { problem, shapes } = checkLinear(where, scope.backend.root, tensors, given);
  const [output, state] = await scope.run(LINEAR, problem, [shapes.output, shapes.state]);
  if (output === undefined || state === undefined) throw new TypeError("a call of two results had fewer");
  return { output, state };
}

/** `options`: those of `rope`. */
export function rope(scope: Scope, x: Tensor, options: object): Promise<Tensor> {
  const { problem, shape } = checkRope(scope.backend.root, x, { ...options, keep: true });
  return scope.make(TURNED, problem, shape);
}
