// The room's grids. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { fill } from "../../src/model/matrix.js";
import { ANSWER, labelsOf, NAMES, type Network, type Reading } from "./reading.js";
import { KIND_NAMES, KINDS, type Learnt } from "./training.js";

export function alignmentView(name: Network | "own", { text, date, weights }: Reading): MatrixView {
  return {
    name,
    title: name === "own" ? "Trained here" : NAMES[name],
    about: `attention weights of “${date}”`,
    matrix: weights,
    rowLabels: Array.from(date),
    colLabels: labelsOf(text),
    tone: "share",
    full: 1,
  };
}

/** Before any training, nothing is right. */
export function learntView(learnt: Learnt | undefined): MatrixView {
  return {
    name: "learnt",
    title: "Right",
    about: "how often each character is right",
    matrix: fill(KINDS.length, ANSWER, (row, col) => learnt?.[KINDS[row] ?? "dot"].characters[col] ?? 0),
    rowLabels: KINDS.map((kind) => KIND_NAMES[kind]),
    colLabels: Array.from("yyyy-mm-dd"),
    tone: "share",
    full: 1,
  };
}
