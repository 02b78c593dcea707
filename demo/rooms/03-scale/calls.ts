// The present scene as a call of heed, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { identity, stack } from "../../src/model/matrix.js";
import { type ScaleScene, vectors } from "./scene.js";
import { soften } from "./softmax.js";
import { WIDTHS } from "./state.js";

/** What the kernel gave for the row that is shown, and how far it is from the page's arithmetic over all draws. */
export interface ScaleAnswer {
  readonly weights: Float32Array;
  readonly difference: number;
}

/** Every draw is a head of its own. */
export function callsOf({ state, draws }: ScaleScene): readonly Call[] {
  const { width, temperature, scaling, keys } = state;
  const options = { temperature, ...(scaling === "none" ? { scale: 1 } : {}) };
  const q = stack(draws.map((draw) => vectors([draw.q], width)));
  const k = stack(draws.map((draw) => vectors(draw.keys, width)));
  const v = stack(draws.map(() => identity(keys)));
  return [{ q, k, v, options }];
}

export function readAnswers({ draws, factor, state }: ScaleScene, [found]: readonly Answer[]): ScaleAnswer {
  const at = WIDTHS.indexOf(state.width);
  const own = draws.flatMap(({ scores }) => soften(scores.map((score) => (score[at] ?? 0) * factor)).weights);
  const given = found?.weights.data ?? new Float32Array(0);
  const gaps = own.map((weight, index) => Math.abs(weight - (given[index] ?? Number.NaN)));
  return { weights: given.slice(0, state.keys), difference: Math.max(...gaps) };
}
