// The row as a call of heed with its backward pass, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { INPUTS, type LearningScene, type Part, VALUE_WIDTH } from "./scene.js";

export interface LearningAnswer {
  /** The kernel's; the gradient in a bias is that in its score. */
  readonly matrices: Readonly<Partial<Record<Part, Matrix>>>;
  /** How far they are from the page's arithmetic at most. */
  readonly difference: number;
}

export function callsOf({ scale, dOutput }: LearningScene): readonly Call[] {
  const { q, k, v, bias } = INPUTS;
  const outputGradient = { data: Float32Array.from(dOutput), shape: [1, 1, 1, VALUE_WIDTH] };
  return [{ q: stack([q]), k: stack([k]), v: stack([v]), options: { scale, bias: stack([bias]) }, outputGradient }];
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
