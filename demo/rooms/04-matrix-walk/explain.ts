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
import { explainGiven, explainProjection, explainWeight } from "./explain-inputs.js";
import type { Scene, Spot } from "./spots.js";

/** undefined where the spot lies outside of the present matrices. */
export function explain(scene: Scene, spot: Spot): Explanation | undefined {
  const { row, col } = spot;
  switch (spot.name) {
    case "X":
      return explainGiven(scene, row, col);
    case "Wq":
      return explainWeight(scene, "q", row, col);
    case "Wk":
      return explainWeight(scene, "k", row, col);
    case "Wv":
      return explainWeight(scene, "v", row, col);
    case "Q":
      return explainProjection(scene, "q", row, col);
    case "K":
      return explainProjection(scene, "k", row, col);
    case "Kt":
      return explainProjection(scene, "k", col, row);
    case "V":
      return explainProjection(scene, "v", row, col);
    case "S":
      return explainScore(scene, row, col);
    case "Z":
      return explainScaled(scene, row, col);
    case "M":
      return explainMask(scene, row, col);
    case "A":
      return explainShare(scene, row, col);
    case "lse":
      return explainLse(scene, row);
    case "O":
      return explainOutput(scene, row, col);
  }
}
