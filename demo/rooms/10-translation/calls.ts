// The weights that are shown first as calls of heed: the softmax of the recorded scores.

import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { NETWORKS, type Network } from "./reading.js";
import { RECORDED } from "./recorded.js";

export interface TranslationAnswer {
  readonly weights: ReadonlyMap<Network, Matrix>;
  /** How far they are from the page's arithmetic at most. */
  readonly difference: number;
}

export function callsOf(): readonly Call[] {
  return NETWORKS.map((network) => {
    const { scores } = RECORDED[network];
    const [none, keys] = [fill(scores.rows, 1, () => 0), fill(scores.cols, 1, () => 0)];
    return { q: stack([none]), k: stack([keys]), v: stack([keys]), options: { bias: stack([scores]) } };
  });
}

export function readAnswers(answers: readonly Answer[]): TranslationAnswer {
  const found = NETWORKS.map((network, index) => {
    const { rows, cols } = RECORDED[network].scores;
    return [network, unstack(rows, cols, answers[index]?.weights.data ?? [])] as const;
  });
  const gaps = found.map(([network, weights]) => widestGap(RECORDED[network].weights, weights));
  return { weights: new Map(found), difference: Math.max(...gaps) };
}
