// One number of the room taken apart: what was typed, a score, a weight, or a part of the answer.

import { along, at, bestOf, down } from "../../src/model/matrix.js";
import { directions, distances, type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import { type DictionaryAnswer, type DictionaryScene, lengthOf } from "./scene.js";

export const MATRICES = ["Q", "K", "S", "A", "V", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];

type Place = Pick<NamedSpot<MatrixName>, "row" | "col">;

/** Of a cell that a matrix shows. */
export function explain(scene: DictionaryScene, spot: NamedSpot<MatrixName>, answer?: DictionaryAnswer): Explanation {
  const { name, row, col } = spot;
  if (name === "S") return explainScore(scene, spot);
  if (name === "A") return explainWeight(scene, spot, answer);
  if (name === "O") return explainOutput(scene, spot, answer);
  const { queries, keys, contents, features } = scene.example;
  return {
    subject: `${(name === "Q" ? queries : keys)[row]}: ${(name === "V" ? contents : features)[col]}`,
    sentence: "Set by hand. Type another number, or move the slider.",
    result: at({ Q: scene.q, K: scene.k, V: scene.v }[name], row, col),
    lights: [spot],
    editable: true,
  };
}

function explainScore({ q, k, scores, example, state }: DictionaryScene, { row, col: key }: Place): Explanation {
  const { features, queries, keys } = example;
  const pair = [along(q, row), along(k, key)] as const;
  const without = lengthOf(q, row) * lengthOf(k, key) === 0 ? " One of them has no direction: 0 by rule." : "";
  const { bandwidth } = state;
  const told = {
    dot: () => ({
      sentence: "Feature by feature; two minuses make a plus: both dislike it.",
      ...products(features, ...pair, ["", "q", "k"]),
    }),
    cosine: () => ({
      sentence: `The dot product over both lengths, so that only the direction counts.${without}`,
      ...directions(features, ...pair),
    }),
    rbf: () => ({
      sentence: `How far apart, squared: 0 for the very same, below 0 for all others. The bandwidth ${bandwidth} says how far is far.`,
      ...distances(features, ...pair, bandwidth),
    }),
  }[state.score]();
  return {
    subject: `score [${queries[row]}, ${keys[key]}]`,
    ...told,
    result: at(scores, row, key),
    lights: [lit("Q", row), lit("K", key), lit("S", row, key)],
  };
}

function explainWeight(scene: DictionaryScene, { row, col: key }: Place, answer?: DictionaryAnswer): Explanation {
  const { scores, weights, example } = scene;
  const { temperature } = scene.state;
  const subject = `weight [${example.queries[row]}, ${example.keys[key]}]`;
  const common = {
    subject,
    result: at(weights, row, key),
    kernel: answer && at(answer.weights, row, key),
    lights: [lit("S", row), lit("A", row, key)],
  };
  if (temperature === 0) {
    const best = bestOf(scores, row);
    return {
      ...common,
      sentence:
        "At T = 0 the largest score takes all: an exact lookup, or the nearest there is. Of equal scores the first wins.",
      head: ["", "score"],
      terms: example.keys.map((label, index) => ({
        label,
        figures: [exact(at(scores, row, index))],
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
      last: `1 / ${weights.cols} = ${exact(common.result)}`,
    };
  }
  const heated = example.keys.map((_, index) => at(scores, row, index) / temperature);
  return { ...softened(heated, example.keys, { subject, at: key, scores: "score / T" }), ...common };
}

function explainOutput(scene: DictionaryScene, { row, col }: Place, answer?: DictionaryAnswer): Explanation {
  const { weights, v, output, example } = scene;
  return {
    subject: `${example.queries[row]} gets: ${example.contents[col]}`,
    sentence: "What lies in each drawer, times the weight of that drawer.",
    ...products(example.keys, along(weights, row), down(v, col), ["", "weight", "value"]),
    result: at(output, row, col),
    kernel: answer && at(answer.output, row, col),
    lights: [lit("A", row), lit("V", undefined, col), lit("O", row, col)],
  };
}
