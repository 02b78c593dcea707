// One cell's number, taken apart, whichever matrix it stands in.

import type { Explanation } from "../../src/ui/explanation.js";
import {
  explainLse,
  explainMask,
  explainOutput,
  explainScaled,
  explainScore,
  explainShare,
} from "./explain-attention.js";
import { explainBoth, explainGiven, explainProjection, explainWeight } from "./explain-inputs.js";
import type { MatrixName, Scene, Spot } from "./spots.js";
import { viewOf } from "./views.js";

type Explain = (scene: Scene, row: number, col: number) => Explanation;

const EXPLAIN: Readonly<Record<MatrixName, Explain>> = {
  X: explainGiven,
  Wq: (scene, row, col) => explainWeight(scene, "q", row, col),
  Wk: (scene, row, col) => explainWeight(scene, "k", row, col),
  Wv: (scene, row, col) => explainWeight(scene, "v", row, col),
  Q: (scene, row, col) => explainProjection(scene, "q", row, col),
  K: (scene, row, col) => explainProjection(scene, "k", row, col),
  Kt: (scene, row, col) => explainProjection(scene, "k", col, row),
  V: (scene, row, col) => explainProjection(scene, "v", row, col),
  S: explainScore,
  Wqk: explainBoth,
  Z: explainScaled,
  M: explainMask,
  A: explainShare,
  lse: explainLse,
  O: explainOutput,
};

/** undefined where the spot lies outside of the present matrices. */
export function explain(scene: Scene, { name, row, col }: Spot): Explanation | undefined {
  const { rows, cols } = viewOf(name, scene).matrix;
  return row < rows && col < cols ? EXPLAIN[name](scene, row, col) : undefined;
}
