// One number of the room taken apart: what was typed, a score, a weight, or a part of the answer.

import { at, type Matrix } from "../../src/model/matrix.js";
import { lengthOf } from "../../src/model/similarity.js";
import { directions, type Explanation, products, softened } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import type { DictionaryAnswer } from "./calls.js";
import { bestOf, type DictionaryScene } from "./scene.js";

export const MATRICES = ["Q", "K", "S", "A", "V", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];

export const ROLES = { Q: "q", K: "k", V: "v" } as const;

/** Of a cell that a matrix shows. */
export function explain(scene: DictionaryScene, spot: NamedSpot<MatrixName>, answer?: DictionaryAnswer): Explanation {
  const { name, row, col } = spot;
  switch (name) {
    case "S":
      return explainScore(scene, row, col);
    case "A":
      return explainShare(scene, row, col, answer?.shares);
    case "O":
      return explainOutput(scene, row, col, answer?.output);
    default:
      return explainTyped(scene, { ...spot, name });
  }
}

function explainTyped(scene: DictionaryScene, { name, row, col }: NamedSpot<keyof typeof ROLES>): Explanation {
  const { queries, keys, contents, features } = scene.example;
  const who = (name === "Q" ? queries : keys)[row] ?? "";
  const what = (name === "V" ? contents : features)[col] ?? "";
  return {
    subject: `${who}: ${what}`,
    sentence: "Set by hand. Type another number, or move the slider.",
    result: at(scene[ROLES[name]], row, col),
    lights: [{ name, row, col }],
    editable: true,
  };
}

function explainScore({ q, k, scores, example, state }: DictionaryScene, row: number, key: number): Explanation {
  const result = at(scores, row, key);
  const common = {
    subject: `score [${example.queries[row]}, ${example.keys[key]}]`,
    result,
    lights: [
      { name: "Q", row },
      { name: "K", row: key },
      { name: "S", row, col: key },
    ],
  };
  const pair = [(col: number) => at(q, row, col), (col: number) => at(k, key, col)] as const;
  if (state.score === "dot") {
    const sentence = "Feature by feature; two minuses make a plus: both dislike it.";
    return { ...common, sentence, ...products(example.features, ...pair, ["", "q", "k"]) };
  }
  if (state.score === "cosine") {
    const without = lengthOf(q, row) * lengthOf(k, key) === 0 ? " One of them has no direction: 0 by rule." : "";
    const sentence = `The dot product over both lengths, so that only the direction counts.${without}`;
    return { ...common, sentence, ...directions(example.features, ...pair) };
  }
  const [left, right] = pair;
  const gaps = example.features.map((_, col) => left(col) - right(col));
  const sum = gaps.reduce((total, gap) => total + gap * gap, 0);
  return {
    ...common,
    sentence: `How far apart, squared: 0 for the very same, below 0 for all others. The bandwidth ${state.bandwidth} says how far is far.`,
    head: ["", "q", "k", "(q − k)²"],
    terms: example.features.map((label, col) => ({
      label,
      figures: [exact(left(col)), exact(right(col)), exact((gaps[col] ?? 0) ** 2)],
      faint: gaps[col] === 0,
    })),
    last: `−${exact(sum)} / (2 × ${state.bandwidth}²) = ${exact(result)}`,
  };
}

function explainShare(scene: DictionaryScene, row: number, key: number, kernel?: Matrix): Explanation {
  const { scores, shares, example, state } = scene;
  const { temperature } = state;
  const subject = `weight [${example.queries[row]}, ${example.keys[key]}]`;
  const common = {
    subject,
    result: at(shares, row, key),
    kernel: kernel && at(kernel, row, key),
    lights: [
      { name: "S", row },
      { name: "A", row, col: key },
    ],
  };
  const own = example.keys.map((_, index) => at(scores, row, index));
  if (temperature === 0) {
    const best = bestOf(scores, row);
    return {
      ...common,
      sentence:
        "At T = 0 the largest score takes all: an exact lookup, or the nearest there is. Of equal scores the first wins.",
      head: ["", "score"],
      terms: example.keys.map((label, index) => ({
        label,
        figures: [exact(own[index] ?? Number.NaN)],
        own: index === key,
        faint: index !== best,
      })),
      last: key === best ? "the largest → 1" : "not the largest → 0",
    };
  }
  if (temperature === Number.POSITIVE_INFINITY) {
    return {
      ...common,
      sentence: "At T = ∞ scores no longer matter: a plain average over all drawers.",
      last: `1 / ${shares.cols} = ${exact(common.result)}`,
    };
  }
  const heated = own.map((score) => score / temperature);
  return { ...softened(heated, example.keys, { subject, at: key, scores: "score / T" }), ...common };
}

function explainOutput(scene: DictionaryScene, row: number, col: number, kernel?: Matrix): Explanation {
  const { shares, v, output, example } = scene;
  return {
    subject: `${example.queries[row]} gets: ${example.contents[col]}`,
    sentence: "What lies in each drawer, times the weight of that drawer.",
    ...products(
      example.keys,
      (key) => at(shares, row, key),
      (key) => at(v, key, col),
      ["", "weight", "value"],
    ),
    result: at(output, row, col),
    kernel: kernel && at(kernel, row, col),
    lights: [
      { name: "A", row },
      { name: "V", col },
      { name: "O", row, col },
    ],
  };
}
