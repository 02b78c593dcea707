// A graph whose nodes pass messages, by the page's own arithmetic.

import { at, fill, type Matrix, multiply, singleRows, toSingle } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { joined, NODES, type WhatElseState } from "./state.js";

/** Set by hand: nodes of one side are alike. */
const FEATURES = singleRows([1, 0], [0.9, 0.2], [1, 0.5], [0.5, 0.5], [0.4, 1], [0.1, 0.9], [0, 1]);
export const NAMES = Array.from({ length: NODES }, (_, node) => String.fromCharCode(97 + node));
/** What the dot product of two features is multiplied with. */
export const SHARP = 2;

export interface GraphScene {
  readonly state: WhatElseState;
  /** -Infinity where no edge is. */
  readonly scores: Matrix;
  readonly weights: Matrix;
  /** What each node holds before the last round and after it. */
  readonly before: Matrix;
  readonly after: Matrix;
  /** The page's own weights and last round; `weights` and `after` are the kernel's once they are there. */
  readonly made: { readonly weights: Matrix; readonly after: Matrix };
  readonly isAnswered: boolean;
}

/** All alike: no node differs from another. */
export function featuresOf({ weighing }: WhatElseState): Matrix {
  return weighing === "mean" ? fill(NODES, 2, () => 0) : FEATURES;
}

export function maskOf({ edges }: WhatElseState): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: NODES * NODES }, (_, index) =>
    joined(edges, Math.floor(index / NODES), index % NODES) ? 1 : 0,
  );
}

export function graphScene(state: WhatElseState): GraphScene {
  const features = featuresOf(state);
  const scores = fill(NODES, NODES, (row, col) =>
    joined(state.edges, row, col)
      ? SHARP * (at(features, row, 0) * at(features, col, 0) + at(features, row, 1) * at(features, col, 1))
      : Number.NEGATIVE_INFINITY,
  );
  const weights = softmax(scores);
  let [before, after] = [toSingle(state.messages), toSingle(state.messages)];
  for (let round = 0; round < state.rounds; round++) {
    before = toSingle(after);
    after = multiply(weights, before);
  }
  return { state, scores, weights, before, after, made: { weights, after }, isAnswered: false };
}
