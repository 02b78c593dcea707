// What the numbers of attention itself come from: scores, masks, weights, lse and outputs.

import { along, at, columns, down, type Matrix, multiply, transpose } from "../../src/model/matrix.js";
import { rowSum } from "../../src/model/softmax.js";
import { type Explanation, lit, products } from "../../src/ui/explanation.js";
import { exact, small, timesTold } from "../../src/ui/numbers.js";
import { questionsOf, type Scene } from "./spots.js";

export const ATTENTION = {
  S: explainScore,
  Z: explainScaled,
  M: explainMask,
  A: explainWeight,
  lse: explainLse,
  O: explainOutput,
};

/** Of a query and a key. */
const plain = ({ walk }: Scene, name: string, row: number, col: number) => {
  const [asker, word] = [walk.askers[row] ?? "", walk.labels[col] ?? ""];
  return { asker, word, subject: `${name} [${asker}, ${word}]` };
};
const beside = (matrix: Matrix | undefined, row: number, col: number): number | undefined =>
  matrix === undefined ? undefined : at(matrix, row, col);

function explainScore(scene: Scene, row: number, col: number): Explanation {
  const { head } = scene;
  const { asker, word, subject } = plain(scene, "S", row, col);
  return {
    subject,
    sentence: `The query of “${asker}” times the key of “${word}”. As x W_Q W_Kᵀ xᵀ it is ${exact(bilinear(scene, row, col))} as well.`,
    ...products(questionsOf(scene), along(head.q, row), along(head.k, col), ["", "q", "k"]),
    result: at(head.scores, row, col),
    lights: [lit("Q", row), lit("Kt", undefined, col), lit("K", col), lit("S", row, col)],
  };
}

/** The same without a query or a key: two words, and one matrix between them. */
function bilinear({ walk, head }: Scene, row: number, col: number): number {
  const { x, askers, labels, projections, headWidth } = walk;
  const part = (matrix: Matrix): Matrix => columns(matrix, head.firstColumn, headWidth);
  const both = multiply(part(projections.q), transpose(part(projections.k)));
  return at(multiply(multiply(x, both), transpose(x)), row + labels.length - askers.length, col);
}

function explainScaled(scene: Scene, row: number, col: number): Explanation {
  const { walk, head, state } = scene;
  const [score, result] = [at(head.scores, row, col), at(head.scaled, row, col)];
  const why =
    state.scale === "root"
      ? `1/√${walk.headWidth}, which is ${exact(walk.scale, 6)}`
      : `the scale ${exact(walk.scale, 6)}`;
  return {
    subject: plain(scene, "scaled S", row, col).subject,
    sentence: `The score times ${why}.`,
    last: timesTold([score, walk.scale], result),
    result,
    lights: [lit("S", row, col), lit("Z", row, col)],
  };
}

function explainMask(scene: Scene, row: number, col: number): Explanation {
  const { walk, head, state } = scene;
  const { asker, word, subject } = plain(scene, "masked S", row, col);
  const result = at(head.masked, row, col);
  const offset = state.causal === "upper-left" ? 0 : walk.labels.length - walk.askers.length;
  const sentences = {
    padding: `“${word}” is hidden from everybody (padding), so “${asker}” does not see it.`,
    later: `Causal: query ${row + 1} sees keys up to ${Math.max(0, row + 1 + offset)}, and “${word}” is key ${col + 1}.`,
    seen: `“${asker}” may see “${word}”: the scaled score passes unchanged.`,
  };
  return {
    subject,
    sentence: sentences[walk.hiddenBy(row, col) ?? "seen"],
    last: `${exact(at(head.scaled, row, col))} → ${exact(result)}`,
    result,
    lights: [lit("Z", row, col), lit("M", row, col)],
  };
}

function explainWeight(scene: Scene, row: number, col: number): Explanation {
  const { walk, head, kernel } = scene;
  const { asker, word, subject } = plain(scene, "A", row, col);
  const { most, sum } = rowSum(head.masked, row);
  const result = at(head.weights, row, col);
  const lights = [lit("M", row), lit("A", row, col)];
  const always = { subject, result, kernel: beside(kernel?.weights, row, col), lights };
  if (most === Number.NEGATIVE_INFINITY) {
    const sentence = `“${asker}” sees no word at all: by rule every weight is 0.`;
    return { ...always, sentence, last: "no visible key → 0" };
  }
  const reason = walk.hiddenBy(row, col);
  const power = (key: number): number => Math.exp(at(head.masked, row, key) - most);
  return {
    ...always,
    sentence:
      reason === undefined
        ? `The attention weight of “${word}” for “${asker}”. The largest score in this row is ${exact(most)}.`
        : `“${word}” is out of sight (${reason === "padding" ? "padding" : "causal"}): e^−∞ is 0, exactly.`,
    head: ["", "score", "− max", "e^"],
    terms: walk.labels.map((label, key) => {
      const score = at(head.masked, row, key);
      const figures = [exact(score, 3), exact(score - most, 3), small(power(key))];
      return { label, figures, own: key === col, faint: power(key) < 5e-5 };
    }),
    last: `${small(power(col))} / ${exact(sum)} = ${small(result)}`,
  };
}

function explainLse({ walk, head, kernel }: Scene, row: number): Explanation {
  const { most, sum } = rowSum(head.masked, row);
  const result = at(head.lse, row, 0);
  return {
    subject: `lse [${walk.askers[row]}]`,
    sentence:
      "The logarithm of the row’s sum of exponentials: with it, any weight can be computed again without its row.",
    last: sum === 0 ? "ln 0 = −∞" : `${exact(most)} + ln ${exact(sum)} = ${exact(result)}`,
    result,
    kernel: beside(kernel?.lse, row, 0),
    lights: [lit("M", row), lit("lse", row, 0)],
  };
}

function explainOutput({ walk, head, kernel }: Scene, row: number, col: number): Explanation {
  const asker = walk.askers[row];
  const feature = walk.featureNames[head.firstColumn + col] ?? "";
  return {
    subject: `O [${asker}, ${feature}]`,
    sentence: `The output of “${asker}” in “${feature}”: every value times its attention weight.`,
    ...products(walk.labels, along(head.weights, row), down(head.v, col), ["", "weight", "v"]),
    result: at(head.output, row, col),
    kernel: beside(kernel?.output, row, col),
    lights: [lit("A", row), lit("V", undefined, col), lit("O", row, col)],
  };
}
