// One number of the room taken apart: what was typed, a score, a share, or a part of the answer.

import { at, type Matrix } from "../../src/model/matrix.js";
import { lengthOf } from "../../src/model/similarity.js";
import { rowSum } from "../../src/model/softmax.js";
import { directions, type Explanation, products } from "../../src/ui/explanation.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { DictionaryAnswer } from "./calls.js";
import { bestOf, type DictionaryScene } from "./scene.js";

export const MATRICES = ["Q", "K", "S", "A", "V", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];

export const ROLES = { Q: "q", K: "k", V: "v" } as const;

export interface Spot {
  readonly name: MatrixName;
  readonly row: number;
  readonly col: number;
}

export function explain(scene: DictionaryScene, spot: Spot, answer?: DictionaryAnswer): Explanation | undefined {
  const { name, row, col } = spot;
  switch (name) {
    case "Q":
    case "K":
    case "V":
      return explainTyped(scene, name, row, col);
    case "S":
      return explainScore(scene, row, col);
    case "A":
      return explainShare(scene, row, col, answer?.shares);
    case "O":
      return explainOutput(scene, row, col, answer?.output);
  }
}

function inside(matrix: Matrix, row: number, col: number): boolean {
  return row < matrix.rows && col < matrix.cols;
}

function explainTyped(
  scene: DictionaryScene,
  name: keyof typeof ROLES,
  row: number,
  col: number,
): Explanation | undefined {
  const { example } = scene;
  const matrix = scene[ROLES[name]];
  if (!inside(matrix, row, col)) return undefined;
  const who = (name === "Q" ? example.queries : example.keys)[row] ?? "";
  const what = (name === "V" ? example.contents : example.features)[col] ?? "";
  return {
    subject: `${who}: ${what}`,
    sentence: "Set by hand. Type another number, or move the slider.",
    head: [],
    terms: [],
    last: "",
    result: at(matrix, row, col),
    lights: [{ name, row, col }],
    editable: true,
  };
}

function explainScore(scene: DictionaryScene, row: number, key: number): Explanation | undefined {
  const { q, k, scores, example, state } = scene;
  if (!inside(scores, row, key)) return undefined;
  const result = at(scores, row, key);
  const names = [example.queries[row] ?? "", example.keys[key] ?? ""] as const;
  const common = {
    subject: `score [${names.join(", ")}]`,
    result,
    lights: [
      { name: "Q", row },
      { name: "K", row: key },
      { name: "S", row, col: key },
    ],
  };
  if (state.score === "rbf") {
    const gaps = example.features.map((_, col) => at(q, row, col) - at(k, key, col));
    const sum = gaps.reduce((total, gap) => total + gap * gap, 0);
    return {
      ...common,
      sentence: `How far apart, squared: 0 for the very same, below 0 for all others. The bandwidth ${state.bandwidth} says how far is far.`,
      head: ["", "q", "k", "(q − k)²"],
      terms: example.features.map((label, col) => ({
        label,
        figures: [exact(at(q, row, col)), exact(at(k, key, col)), exact((gaps[col] ?? 0) ** 2)],
        faint: gaps[col] === 0,
      })),
      last: `−${exact(sum)} / (2 × ${state.bandwidth}²) = ${exact(result)}`,
    };
  }
  const pair = [(col: number) => at(q, row, col), (col: number) => at(k, key, col)] as const;
  if (state.score === "dot") {
    return {
      ...common,
      sentence: "Feature by feature; two minuses make a plus: both dislike it.",
      ...products(example.features, ...pair, ["", "q", "k"]),
    };
  }
  const without = lengthOf(q, row) * lengthOf(k, key) === 0 ? " One of them has no direction: 0 by rule." : "";
  return {
    ...common,
    sentence: `The dot product over both lengths, so that only the direction counts.${without}`,
    ...directions(example.features, ...pair),
  };
}

function explainShare(
  { scores, shares, example, state }: DictionaryScene,
  row: number,
  key: number,
  kernel?: Matrix,
): Explanation | undefined {
  if (!inside(shares, row, key)) return undefined;
  const { temperature } = state;
  const result = at(shares, row, key);
  const common = {
    subject: `share [${example.queries[row]}, ${example.keys[key]}]`,
    result,
    ...(kernel === undefined ? {} : { kernel: at(kernel, row, key) }),
    lights: [
      { name: "S", row },
      { name: "A", row, col: key },
    ],
  };
  const listed = example.keys.map((label, index) => ({ label, index, score: at(scores, row, index) }));
  if (temperature === 0) {
    return {
      ...common,
      sentence:
        "At T = 0 the largest score takes all: an exact lookup, or the nearest there is. Of equals, the first does; a softmax on its way to 0 would divide between them.",
      head: ["", "score"],
      terms: listed.map(({ label, index, score }) => ({
        label,
        figures: [exact(score)],
        own: index === key,
        faint: index !== bestOf(scores, row),
      })),
      last: key === bestOf(scores, row) ? "the largest → 1" : "not the largest → 0",
    };
  }
  if (temperature === Number.POSITIVE_INFINITY) {
    return {
      ...common,
      sentence: "At T = ∞ scores no longer matter: a plain average over all drawers.",
      head: [],
      terms: [],
      last: `1 / ${shares.cols} = ${exact(result)}`,
    };
  }
  const heated = { ...scores, data: scores.data.map((score) => score / temperature) };
  const { most, sum } = rowSum(heated, row);
  const power = (index: number): number => Math.exp(at(heated, row, index) - most);
  return {
    ...common,
    sentence: `e to the power of each score over T, less the largest, ${exact(most)}; then this one over the sum of all.`,
    head: ["", "score / T", "− max", "e^"],
    terms: listed.map(({ label, index }) => ({
      label,
      figures: [exact(at(heated, row, index), 3), exact(at(heated, row, index) - most, 3), small(power(index))],
      own: index === key,
      faint: power(index) < 5e-5,
    })),
    last: `${small(power(key))} / ${exact(sum)} = ${small(result)}`,
  };
}

function explainOutput(
  { shares, v, output, example }: DictionaryScene,
  row: number,
  col: number,
  kernel?: Matrix,
): Explanation | undefined {
  if (!inside(output, row, col)) return undefined;
  return {
    subject: `${example.queries[row]} gets: ${example.contents[col]}`,
    sentence: "What lies in each drawer, times the share of that drawer.",
    ...products(
      example.keys,
      (key) => at(shares, row, key),
      (key) => at(v, key, col),
      ["", "share", "value"],
    ),
    result: at(output, row, col),
    ...(kernel === undefined ? {} : { kernel: at(kernel, row, col) }),
    lights: [
      { name: "A", row },
      { name: "V", col },
      { name: "O", row, col },
    ],
  };
}
