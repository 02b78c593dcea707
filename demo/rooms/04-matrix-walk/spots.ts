// Which cell of which matrix: what can be pointed at in the walk, and the cell to begin with at each step.

import type { KernelHead } from "../../src/engine/walk-call.js";
import { at, type Matrix } from "../../src/model/matrix.js";
import type { State } from "../../src/model/state.js";
import type { HeadWalk, Walk } from "../../src/model/walk.js";

export const MATRICES = ["X", "Wq", "Wk", "Wv", "Q", "K", "V", "Kt", "S", "Z", "M", "A", "lse", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];

export interface Spot {
  readonly name: MatrixName;
  readonly row: number;
  readonly col: number;
}

export interface Scene {
  readonly walk: Walk;
  readonly state: State;
  readonly head: HeadWalk;
  readonly kernel: KernelHead | undefined;
}

/** The cell that a step shows as long as nobody points at one. */
export function tellingSpot(scene: Scene, asker: number): Spot {
  const { walk, head, state } = scene;
  const first = walk.labels.length - walk.askers.length;
  const row = Math.max(0, asker - first);
  const best = (matrix: Matrix, of: number): number => {
    let found = 0;
    for (let col = 1; col < matrix.cols; col++) {
      if (Math.abs(at(matrix, of, col)) > Math.abs(at(matrix, of, found))) found = col;
    }
    return found;
  };
  const key = best(head.weights, row);
  switch (state.step) {
    case "words":
      return { name: "X", row: row + first, col: best(walk.x, row + first) };
    case "project": {
      const name = state.role === "q" ? "Q" : state.role === "k" ? "K" : "V";
      const own = state.role === "q" ? row : state.role === "k" ? key : row + first;
      return { name, row: own, col: best(head[state.role], own) };
    }
    case "scores":
      return { name: "S", row, col: key };
    case "scale":
      return { name: "Z", row, col: key };
    case "mask": {
      const hidden = walk.labels.findIndex((_, col) => walk.hiddenBy(row, col) !== undefined);
      return { name: "M", row, col: hidden < 0 ? key : hidden };
    }
    case "softmax":
      return { name: "A", row, col: key };
    case "output":
      return { name: "O", row, col: best(head.output, row) };
  }
}
