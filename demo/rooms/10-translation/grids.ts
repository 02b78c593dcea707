// The room's grids: what stands in them, what the kernel makes of those that are shown first, and one number of them taken apart.

import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, rowsOf, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { softened } from "../../src/ui/explanation.js";
import { type Telling, weighed } from "../../src/ui/named-matrices.js";
import { nameOf } from "./lines.js";
import { labelsOf, NAMES, NETWORKS, type Network, RECORDED, type Reading } from "./reading.js";

export function alignmentView(name: Network | "own", { text, date, scores, weights, kernel }: Reading): Telling {
  const title = name === "own" ? "Trained here" : NAMES[name];
  const labels = labelsOf(text);
  return {
    ...weighed(title, `attention weights of “${date}”`, kernel ?? weights, Array.from(date), labels),
    own: weights,
    tell: (row, col) => ({
      ...softened(rowsOf(scores)[row] ?? [], labels, { at: col }),
      subject: `${nameOf(date[row] ?? "")} looks at ${nameOf(text[col] ?? "")}`,
    }),
  };
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
