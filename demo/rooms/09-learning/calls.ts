// The row as a call of heed with its backward pass, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, stack, widestGap } from "../../src/model/matrix.js";
import { INPUTS, KEYS, type LearningScene, VALUE_WIDTH } from "./scene.js";

export interface LearningAnswer {
  readonly weights: ArrayLike<number>;
  /** Gradients; that of a bias is that of its score. */
  readonly dS: ArrayLike<number>;
  readonly dq: ArrayLike<number>;
  readonly dk: ArrayLike<number>;
  readonly dv: ArrayLike<number>;
  /** How far they are from the page's arithmetic at most. */
  readonly difference: number;
}

export function callsOf({ scale, dOutput }: LearningScene): readonly Call[] {
  const { q, k, v, bias } = INPUTS;
  const outputGradient = { data: Float32Array.from(dOutput), shape: [1, 1, 1, VALUE_WIDTH] };
  return [{ q: stack([q]), k: stack([k]), v: stack([v]), options: { scale, bias: stack([bias]) }, outputGradient }];
}

export function readAnswers(scene: LearningScene, [found]: readonly Answer[]): LearningAnswer | undefined {
  if (found?.gradients === undefined) return undefined;
  const { dq, dk, dv, dbias: dS } = found.gradients;
  const row = (data: ArrayLike<number>) => fill(1, data.length, (_, col) => data[col] ?? Number.NaN);
  const pairs = [
    [dq, scene.dq.data],
    [dk, scene.dk.data],
    [dv, scene.dv.data],
    [dS, scene.dScores],
  ] as const;
  const gaps = pairs.map(([kernel, own]) => widestGap(row(own), row(kernel)));
  return { weights: found.weights.data.slice(0, KEYS), dS, dq, dk, dv, difference: Math.max(...gaps) };
}
