// The room’s matrices, drawers and curve, and one number taken apart: what was typed, a score, a weight, or a part of the answer. Pure.

import { along, at, bestOf, down, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { directions, distances, type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import type { ChartView } from "../../src/ui/heed-chart.js";
import { type NamedSpot, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import type { Drawer } from "./cabinet.js";
import { type DictionaryAnswer, type DictionaryScene, GRID, lengthOf } from "./scene.js";

export function viewsOf(scene: DictionaryScene, answer?: DictionaryAnswer): Record<MatrixName, View> {
  const { q, k, v, scores, weights, output } = { ...scene, ...answer };
  const { queries, keys, features, contents } = scene.example;
  const editable = (...parts: Parameters<typeof signed>): View => ({ ...signed(...parts), editable: true });
  return {
    Q: editable("Q", "queries; change any", q, queries, features),
    K: editable("K", "keys, on the drawers, as wide as queries; change any", k, keys, features),
    V: editable("V", "values, in the drawers, of any width; change any", v, keys, contents),
    S: signed("S", "scores: how alike", scores, queries, keys),
    A: weighed("A", "attention weights: each row sums to 1", weights, queries, keys),
    O: signed("O", "what each query gets", output, queries, contents),
  };
}

export function drawersOf(scene: DictionaryScene, answer?: DictionaryAnswer): readonly Drawer[] {
  const { example, q, k, v, state } = scene;
  const { weights } = answer ?? scene;
  const cards = rowsOf(k);
  return example.keys.map((name, key) => ({
    name,
    // Names of movies leave no room for it.
    card: state.example === "students" ? (cards[key] ?? []).map((entry) => exact(entry, 1)).join(" ") : "",
    content: contentOf(v, key, example.contents),
    share: at(weights, state.asker, key),
    asked: example.features.every((_, col) => at(q, state.asker, col) === at(k, key, col)),
  }));
}

/** A single number as it is, else the name of what stands out, with its number unless it is all there is. */
function contentOf(v: Matrix, key: number, names: readonly string[]): string {
  if (v.cols === 1) return `${exact(at(v, key, 0), 1)} thousand`;
  const [most] = names
    .map((name, col) => ({ name, value: at(v, key, col) }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  if (most === undefined) return "";
  return most.value === 1 ? most.name : `${most.name} ${exact(most.value, 1)}`;
}

export function curveView(scene: DictionaryScene, answer?: DictionaryAnswer): ChartView | undefined {
  const { curve, k, v, q, state } = scene;
  if (curve === undefined) return undefined;
  const output = answer?.curve ?? curve.output;
  const { weights } = answer ?? scene;
  const values = Array.from(v.data);
  const [least, most] = [Math.min(0, ...values), Math.max(1, ...values)];
  const asked = at(q, 0, 0);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const estimate = state.score === "rbf" ? "Nadaraya–Watson estimate" : "estimate";
  const gaps = GRID.map((grade) => Math.abs(grade - asked));
  return {
    label: "Estimated salary against the GPA that is asked for",
    x: { name: "GPA", values: GRID, log: false, ticks: [1.5, 2, 2.5, 3, 3.5, 4, 4.5] },
    y: { name: "salary, thousand a year (invented)", least, most: most * 1.1 },
    series: [
      { name: estimate, values: GRID.map((_, row) => at(output, row, 0)), tone: "query" },
      { name: "plain average", values: GRID.map(() => mean), tone: "soft", dashed: true },
    ],
    dots: values.map((salary, key) => ({
      name: `${scene.example.keys[key]}: ${exact(salary, 1)}`,
      x: at(k, key, 0),
      y: salary,
      weight: at(weights, 0, key),
    })),
    cursor: gaps.indexOf(Math.min(...gaps)),
  };
}

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
