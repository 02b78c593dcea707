// What the numbers of attention itself come from: scores, masks, shares, lse and outputs.

import { at } from "../../src/model/matrix.js";
import { rowSum } from "../../src/model/softmax.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { Scene } from "./spots.js";

export function explainScore({ walk, head }: Scene, row: number, col: number): Explanation | undefined {
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  const result = at(head.scores, row, col);
  if (asker === undefined || word === undefined) return undefined;
  const names = walk.questionNames.slice(head.firstColumn, head.firstColumn + walk.headWidth);
  return {
    subject: `S [${asker}, ${word}]`,
    sentence: `The query of “${asker}” times the key of “${word}”, question by question.`,
    ...products(
      names,
      (i) => at(head.q, row, i),
      (i) => at(head.k, col, i),
      ["", "q", "k"],
    ),
    result,
    lights: [
      { name: "Q", row },
      { name: "Kt", col },
      { name: "K", row: col },
      { name: "S", row, col },
    ],
  };
}

export function explainScaled({ walk, head, state }: Scene, row: number, col: number): Explanation | undefined {
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  if (asker === undefined || word === undefined) return undefined;
  const [score, result] = [at(head.scores, row, col), at(head.scaled, row, col)];
  const why = state.scale === "root" ? `1/√${walk.headWidth} = ${exact(walk.scale)}` : `the scale ${exact(walk.scale)}`;
  return {
    subject: `scaled S [${asker}, ${word}]`,
    sentence: `The score times ${why}.`,
    head: [],
    terms: [],
    last: `${exact(score)} × ${exact(walk.scale)} = ${exact(result)}`,
    result,
    lights: [
      { name: "S", row, col },
      { name: "Z", row, col },
    ],
  };
}

export function explainMask({ walk, head, state }: Scene, row: number, col: number): Explanation | undefined {
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  if (asker === undefined || word === undefined) return undefined;
  const reason = walk.hiddenBy(row, col);
  const result = at(head.masked, row, col);
  const offset = state.causal === "upper-left" ? 0 : walk.labels.length - walk.askers.length;
  const sentences = {
    padding: `“${word}” is hidden from everybody (padding), so “${asker}” does not see it.`,
    later: `Causal: query ${row + 1} sees keys up to ${Math.max(0, row + 1 + offset)}, and “${word}” is key ${col + 1}.`,
    seen: `“${asker}” may see “${word}”: the scaled score passes unchanged.`,
  };
  return {
    subject: `masked S [${asker}, ${word}]`,
    sentence: sentences[reason ?? "seen"],
    head: [],
    terms: [],
    last: `${exact(at(head.scaled, row, col))} → ${exact(result)}`,
    result,
    lights: [
      { name: "Z", row, col },
      { name: "M", row, col },
    ],
  };
}

export function explainShare(scene: Scene, row: number, col: number): Explanation | undefined {
  const { walk, head, kernel } = scene;
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  if (asker === undefined || word === undefined) return undefined;
  const { most, sum } = rowSum(head.masked, row);
  const result = at(head.weights, row, col);
  const subject = `A [${asker}, ${word}]`;
  const lights = [
    { name: "M", row },
    { name: "A", row, col },
  ];
  const own = kernel === undefined ? {} : { kernel: at(kernel.weights, row, col) };
  if (most === Number.NEGATIVE_INFINITY) {
    const sentence = `“${asker}” sees no word at all: there is nothing to share out, and by rule every share is 0.`;
    return { subject, sentence, head: [], terms: [], last: "no visible key → 0", result, ...own, lights };
  }
  const reason = walk.hiddenBy(row, col);
  return {
    subject,
    sentence:
      reason === undefined
        ? `How much of the attention of “${asker}” goes to “${word}”. The largest score in this row is ${exact(most)}.`
        : `“${word}” is out of sight (${reason === "padding" ? "padding" : "causal"}): e^−∞ is 0, exactly.`,
    head: ["", "score", "− max", "e^"],
    terms: walk.labels.map((label, key) => {
      const score = at(head.masked, row, key);
      const power = Math.exp(score - most);
      return {
        label,
        figures: [exact(score, 3), exact(score - most, 3), small(power)],
        own: key === col,
        faint: power < 5e-5,
      };
    }),
    last: `${small(Math.exp(at(head.masked, row, col) - most))} / ${exact(sum)} = ${small(result)}`,
    result,
    ...own,
    lights,
  };
}

export function explainLse({ walk, head, kernel }: Scene, row: number): Explanation | undefined {
  const asker = walk.askers[row];
  if (asker === undefined) return undefined;
  const { most, sum } = rowSum(head.masked, row);
  const result = at(head.lse, row, 0);
  return {
    subject: `lse [${asker}]`,
    sentence:
      "The logarithm of the row’s sum of exponentials: with it, any share can be computed again without its row.",
    head: [],
    terms: [],
    last: sum === 0 ? "ln 0 = −∞" : `${exact(most)} + ln ${exact(sum)} = ${exact(result)}`,
    result,
    ...(kernel === undefined ? {} : { kernel: at(kernel.lse, row, 0) }),
    lights: [
      { name: "M", row },
      { name: "lse", row, col: 0 },
    ],
  };
}

export function explainOutput({ walk, head, kernel }: Scene, row: number, col: number): Explanation | undefined {
  const asker = walk.askers[row];
  const result = at(head.output, row, col);
  if (asker === undefined || Number.isNaN(result)) return undefined;
  const feature = walk.featureNames[head.firstColumn + col] ?? "";
  return {
    subject: `O [${asker}, ${feature}]`,
    sentence: `What “${asker}” took in of “${feature}”: everybody’s value, times the share it got.`,
    ...products(
      walk.labels,
      (key) => at(head.weights, row, key),
      (key) => at(head.v, key, col),
      ["", "share", "v"],
    ),
    result,
    ...(kernel === undefined ? {} : { kernel: at(kernel.output, row, col) }),
    lights: [
      { name: "A", row },
      { name: "V", col },
      { name: "O", row, col },
    ],
  };
}
