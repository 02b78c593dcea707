// Which cell of which matrix: what can be pointed at in the walk, and the cell to begin with at each place.

import type { KernelHead } from "../../src/engine/walk-call.js";
import { bestOf, type Matrix } from "../../src/model/matrix.js";
import type { State } from "../../src/model/state.js";
import type { HeadWalk, Walk } from "../../src/model/walk.js";
import { tellingWord } from "../../src/page/stage.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import type { Place } from "./places.js";

const COMPUTED = ["Q", "K", "V", "Kt", "S", "Wqk", "Z", "M", "A", "lse", "O"] as const;
export const MATRICES = ["X", "Wq", "Wk", "Wv", ...COMPUTED] as const;
export type MatrixName = (typeof MATRICES)[number];
export type Spot = NamedSpot<MatrixName>;

export interface Scene {
  readonly walk: Walk;
  readonly state: State;
  readonly head: HeadWalk;
  readonly kernel: KernelHead | undefined;
}

/** The columns of queries and keys in this head. */
export function questionsOf({ walk, head }: Scene): readonly string[] {
  return walk.questionNames.slice(head.firstColumn, head.firstColumn + walk.headWidth);
}

/** The cell that a place shows as long as nobody points at one: of the word in the light, and of the key with the largest weight. */
export function tellingSpot({ walk, head, state }: Scene, { step, role = "q" }: Pick<Place, "step" | "role">): Spot {
  const first = walk.labels.length - walk.askers.length;
  const row = Math.max(0, (state.asker >= 0 ? state.asker : tellingWord(walk)) - first);
  const best = (matrix: Matrix, of: number): number => bestOf({ ...matrix, data: matrix.data.map(Math.abs) }, of);
  const key = best(head.weights, row);
  const hidden = walk.labels.findIndex((_, col) => walk.hiddenBy(row, col) !== undefined);
  const projected = { q: row, k: key, v: row + first }[role];
  const spots: Readonly<Record<Place["step"], readonly [MatrixName, number, number]>> = {
    words: ["X", row + first, best(walk.x, row + first)],
    project: [({ q: "Q", k: "K", v: "V" } as const)[role], projected, best(head[role], projected)],
    scores: ["S", row, key],
    scale: ["Z", row, key],
    mask: ["M", row, hidden < 0 ? key : hidden],
    softmax: ["A", row, key],
    output: ["O", row, best(head.output, row)],
  };
  const [name, own, col] = spots[step];
  return { name, row: own, col };
}
