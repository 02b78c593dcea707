// The row as a call of heed with its backward pass, as code too, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { heedProgram, heedTensor, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { INPUTS, type LearningScene, type Part, VALUE_WIDTH } from "./scene.js";

export interface LearningAnswer {
  /** The kernel's; the gradient in a bias is that in its score. */
  readonly matrices: Readonly<Partial<Record<Part, Matrix>>>;
  /** How far they are from the page's arithmetic at most. */
  readonly difference: number;
}

const { q, k, v, bias } = INPUTS;
const gradientOf = ({ dOutput }: LearningScene): Matrix => unstack(1, VALUE_WIDTH, dOutput);

export function callsOf(scene: LearningScene): readonly Call[] {
  const options = { scale: scene.scale, bias: stack([bias]) };
  return [{ q: stack([q]), k: stack([k]), v: stack([v]), options, outputGradient: stack([gradientOf(scene)]) }];
}

export function readAnswers({ matrices: own }: LearningScene, [found]: readonly Answer[]): LearningAnswer | undefined {
  if (found?.gradients === undefined) return undefined;
  const { dq: dQ, dk: dK, dv: dV, dbias: dS } = found.gradients;
  const pairs = Object.entries({ A: found.weights.data, dS, dV, dK, dQ }).map(([name, numbers]) => {
    const { rows, cols } = own[name as Part];
    return [name, unstack(rows, cols, numbers)] as const;
  });
  const gaps = pairs.map(([name, matrix]) => widestGap(own[name as Part], matrix));
  return { matrices: Object.fromEntries(pairs), difference: Math.max(...gaps) };
}

const about = ({ state }: LearningScene): string => `the gradients of one query's row, scores times ${state.factor}`;

export function heedCode(scene: LearningScene): string {
  return heedProgram(
    about(scene),
    `${heedTensor("q", [q])}
${heedTensor("k", [k])}
${heedTensor("v", [v])}
${heedTensor("outputGradient", [gradientOf(scene)])}

const { output, backward } = await heed.attentionVjp(q, k, v, { scale: ${single(scene.scale)} });
const { dq, dk, dv } = await backward(outputGradient);`,
    "dq.data, dk.data, dv.data",
  );
}

export function torchCode(scene: LearningScene): string {
  return torchProgram(
    about(scene),
    `${torchTensor("q", [q])}.requires_grad_()
${torchTensor("k", [k])}.requires_grad_()
${torchTensor("v", [v])}.requires_grad_()
${torchTensor("output_gradient", [gradientOf(scene)])}

output = torch.softmax(q @ k.transpose(-2, -1) * ${single(scene.scale)}, dim=-1) @ v
output.backward(output_gradient)`,
    "q.grad, k.grad, v.grad",
  );
}
