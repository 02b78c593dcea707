// What the room shows as calls of heed, and what heed says to it.

import type { Answer, Call } from "../../src/engine/engine.js";
import { type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { type DictionaryScene, type Lookup, optionsOf } from "./scene.js";

export interface DictionaryAnswer {
  readonly weights: Matrix;
  readonly output: Matrix;
  /** Outputs along the grid of the curve. */
  readonly curve: Matrix | undefined;
  /** To the page's own arithmetic: of weights, and of outputs as a part of the largest value. */
  readonly apart: number;
}

const lookupsOf = (scene: DictionaryScene): readonly Lookup[] =>
  scene.curve === undefined ? [scene] : [scene, scene.curve];

export function callsOf(scene: DictionaryScene): readonly Call[] {
  const [k, v] = [stack([scene.k]), stack([scene.v])];
  return lookupsOf(scene).map(({ q }) => ({ q: stack([q]), k, v, options: optionsOf(scene.state) }));
}

export function readAnswers(scene: DictionaryScene, answers: readonly Answer[]): DictionaryAnswer | undefined {
  const largest = Math.max(1, ...scene.v.data.map(Math.abs));
  const part = (own: Matrix, data: ArrayLike<number> = []): Matrix => unstack(own.rows, own.cols, data);
  const [found, curve] = lookupsOf(scene).map((own, index) => {
    const [weights, output] = [
      part(own.weights, answers[index]?.weights.data),
      part(own.output, answers[index]?.output.data),
    ];
    return {
      weights,
      output,
      apart: Math.max(widestGap(weights, own.weights), widestGap(output, own.output) / largest),
    };
  });
  return found && { ...found, curve: curve?.output, apart: Math.max(found.apart, curve?.apart ?? 0) };
}
