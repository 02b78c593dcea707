// What the room shows as calls of heed, and what heed says to it.

import type { Answer, Call } from "../../src/engine/engine.js";
import { type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import type { DictionaryScene, Lookup } from "./scene.js";
import type { DictionaryState } from "./state.js";

export interface DictionaryAnswer {
  readonly shares: Matrix;
  readonly output: Matrix;
  /** Outputs along the grid of the curve. */
  readonly curve: Matrix | undefined;
  /** To the page's own arithmetic: of shares, and of outputs as a part of the largest value. */
  readonly apart: number;
}

export function callsOf({ q, curve, k, v, state }: DictionaryScene): readonly Call[] {
  const call = (queries: Matrix): Call => ({
    q: stack([queries]),
    k: stack([k]),
    v: stack([v]),
    options: optionsOf(state),
  });
  return curve === undefined ? [call(q)] : [call(q), call(curve.q)];
}

export function optionsOf({ score, bandwidth, temperature }: DictionaryState): Call["options"] {
  const kind = { score: score === "rbf" ? ({ type: score, bandwidth } as const) : score };
  if (temperature === 0) return { ...kind, normalize: "hard" };
  return temperature === Number.POSITIVE_INFINITY ? { ...kind, scale: 0 } : { ...kind, temperature };
}

export function readAnswers(scene: DictionaryScene, [first, second]: readonly Answer[]): DictionaryAnswer | undefined {
  if (first === undefined) return undefined;
  const largest = Math.max(1, ...scene.v.data.map(Math.abs));
  const part = (own: Matrix, data: Float32Array): Matrix => unstack(own.rows, own.cols, data);
  const gap = (own: Lookup, { weights, output }: Answer): number =>
    Math.max(
      widestGap(part(own.shares, weights.data), own.shares),
      widestGap(part(own.output, output.data), own.output) / largest,
    );
  const along = scene.curve === undefined || second === undefined ? undefined : { own: scene.curve, found: second };
  return {
    shares: part(scene.shares, first.weights.data),
    output: part(scene.output, first.output.data),
    curve: along && part(along.own.output, along.found.output.data),
    apart: Math.max(gap(scene, first), along === undefined ? 0 : gap(along.own, along.found)),
  };
}
