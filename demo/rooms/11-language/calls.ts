// One head's look as a call of heed, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { stack, unstack, widestGap } from "../../src/model/matrix.js";
import { type LanguageScene, SCALE } from "./scene.js";

export interface LanguageAnswer {
  readonly weights: ArrayLike<number>;
  readonly output: ArrayLike<number>;
  /** How far they are from the page's arithmetic at most. */
  readonly difference: number;
}

export function callsOf({ look }: LanguageScene): readonly Call[] {
  if (look === undefined) return [];
  const [q, k, v] = [look.q, look.k, look.v].map((matrix) => stack([matrix]));
  return q && k && v ? [{ q, k, v, options: { scale: SCALE } }] : [];
}

export function readAnswers({ look }: LanguageScene, [found]: readonly Answer[]): LanguageAnswer | undefined {
  if (look === undefined || found === undefined) return undefined;
  const [weights, output] = [found.weights.data, found.output.data];
  const gaps = [
    widestGap(look.weights, unstack(1, look.weights.cols, weights)),
    widestGap(look.output, unstack(1, look.output.cols, output)),
  ];
  return { weights, output, difference: Math.max(...gaps) };
}
