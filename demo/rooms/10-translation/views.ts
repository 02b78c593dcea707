// An alignment as a grid. Pure; the room draws it.

import type { MatrixView } from "heed/viz";
import { labelsOf, NAMES, type Network, type Reading } from "./reading.js";

export function alignmentView(name: Network, { text, date, weights }: Reading): MatrixView {
  return {
    name,
    title: NAMES[name],
    about: `attention weights of “${date}”`,
    matrix: weights,
    rowLabels: Array.from(date),
    colLabels: labelsOf(text),
    tone: "share",
    full: 1,
  };
}
