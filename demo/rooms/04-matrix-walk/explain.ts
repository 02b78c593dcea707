// One cell's number, taken apart, whichever matrix it stands in.

import type { Explanation } from "../../src/ui/explanation.js";
import { ATTENTION } from "./explain-attention.js";
import { INPUTS } from "./explain-inputs.js";
import type { MatrixName, Scene, Spot } from "./spots.js";
import { viewOf } from "./views.js";

const EXPLAIN: Readonly<Record<MatrixName, (scene: Scene, row: number, col: number) => Explanation>> = {
  ...INPUTS,
  ...ATTENTION,
};

/** undefined where the spot lies outside of the present matrices. */
export function explain(scene: Scene, { name, row, col }: Spot): Explanation | undefined {
  const { rows, cols } = viewOf(name, scene).matrix;
  return row < rows && col < cols ? EXPLAIN[name](scene, row, col) : undefined;
}
