// The sentence as it stands and as written, as calls of heed, and what heed says to them.

import type { Answer, Call } from "../../src/engine/engine.js";
import { type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { type Attended, SCALE } from "./attend.js";
import { gap, type OrderScene } from "./scene.js";
import type { Kind, OrderState } from "./state.js";

export interface OrderAnswer {
  readonly weights: Matrix;
  readonly output: Matrix;
  /** Output now, less that of the same word as written. */
  readonly difference: Matrix;
  /** To the page's own arithmetic, over the weights and outputs shown. */
  readonly apart: number;
}

export function callsOf({ words, now, written, state }: OrderScene): readonly Call[] {
  return words.length === 0 ? [] : [now, written].map((one) => callOf(one, state));
}

function callOf({ q, k, v, bias }: Attended, { kind, slope }: OrderState): Call {
  const special: Partial<Readonly<Record<Kind, Call["options"]>>> = {
    causal: { causal: true },
    alibi: { alibiSlopes: [slope] },
    relative: { bias: { data: Float32Array.from(bias.data), shape: [1, 1, bias.rows, bias.cols] } },
  };
  return { q: stack([q]), k: stack([k]), v: stack([v]), options: { scale: SCALE, ...special[kind] } };
}

export function readAnswers({ now, places }: OrderScene, answers: readonly Answer[]): OrderAnswer | undefined {
  const { rows, cols } = now.output;
  const [output, written] = answers.map((answer) => unstack(rows, cols, answer.output.data));
  if (output === undefined || written === undefined) return undefined;
  const weights = unstack(rows, rows, answers[0]?.weights.data ?? []);
  const apart = Math.max(widestGap(output, now.output), widestGap(weights, now.weights));
  return { weights, output, difference: gap(output, written, places), apart };
}
