// The room's grids: what stands in them, what the kernel makes of those that are shown first, and one number of them taken apart.

import type { MatrixView } from "heed/viz";
import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, rowsOf, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { type Explanation, softened } from "../../src/ui/explanation.js";
import { type NamedSpot, weighed } from "../../src/ui/named-matrices.js";
import { nameOf } from "./lines.js";
import { labelsOf, NAMES, NETWORKS, type Network, RECORDED, type Reading } from "./reading.js";

export function alignmentView(name: Network | "own", { text, date, weights }: Reading): MatrixView {
  const title = name === "own" ? "Trained here" : NAMES[name];
  return { name, ...weighed(title, `attention weights of “${date}”`, weights, Array.from(date), labelsOf(text)) };
}

/** The kernel's weights, and how far they are from the page's arithmetic at most. */
export type TranslationAnswer = ReturnType<typeof readAnswers>;

/** The softmax of the recorded scores. */
export function callsOf(): readonly Call[] {
  return NETWORKS.map((network) => {
    const { scores } = RECORDED[network];
    const [none, keys] = [fill(scores.rows, 1, () => 0), fill(scores.cols, 1, () => 0)];
    return { q: stack([none]), k: stack([keys]), v: stack([keys]), options: { bias: stack([scores]) } };
  });
}

export function readAnswers(answers: readonly Answer[]) {
  const found = NETWORKS.map((network, index) => {
    const { rows, cols } = RECORDED[network].scores;
    return [network, unstack(rows, cols, answers[index]?.weights.data ?? [])] as const;
  });
  const gaps = found.map(([network, weights]) => widestGap(RECORDED[network].weights, weights));
  return { weights: new Map(found), difference: Math.max(...gaps) };
}

export function explain({ text, date, scores, kernel }: Reading, light: NamedSpot<Network | "own">): Explanation {
  const { row, col } = light;
  const subject = `${nameOf(date[row] ?? "")} looks at ${nameOf(text[col] ?? "")}`;
  const found = kernel?.data[row * kernel.cols + col];
  return softened(rowsOf(scores)[row] ?? [], labelsOf(text), { subject, at: col, kernel: found, light });
}
