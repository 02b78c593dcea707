// The room’s matrices, drawers and curve, and one number taken apart: what was typed, a score, a weight, or a part of the answer. Pure.

import { along, at, bestOf, down, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { directions, distances, lit, products, softened } from "../../src/ui/explanation.js";
import type { ChartView } from "../../src/ui/heed-chart.js";
import { signed, type Telling, type Told, weighed } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import type { Drawer } from "./cabinet.js";
import { type DictionaryAnswer, type DictionaryScene, GRID, lengthOf } from "./scene.js";

export const MATRICES = ["Q", "K", "S", "A", "V", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];

export function matricesOf(scene: DictionaryScene, answer?: DictionaryAnswer): Record<MatrixName, Telling> {
  const { q, k, v, scores, weights, output } = scene;
  const { queries, keys, features, contents } = scene.example;
  const given = (...[title, about, matrix, rows, cols]: Parameters<typeof signed>): Telling => ({
    ...signed(title, about, matrix, rows, cols),
    editable: true,
    tell: (row, col) => ({
      subject: `${rows[row]}: ${cols[col]}`,
      sentence: "Set by hand. Type another number, or move the slider.",
    }),
  });
  return {
    Q: given("Q", "queries; change any", q, queries, features),
    K: given("K", "keys, on the drawers, as wide as queries; change any", k, keys, features),
    V: given("V", "values, in the drawers, of any width; change any", v, keys, contents),
    S: { ...signed("S", "scores: how alike", scores, queries, keys), tell: (row, key) => tellScore(scene, row, key) },
    A: {
      ...weighed("A", "attention weights: each row sums to 1", answer?.weights ?? weights, queries, keys),
      own: weights,
      tell: (...cell) => tellWeight(scene, ...cell),
    },
    O: {
      ...signed("O", "what each query gets", answer?.output ?? output, queries, contents),
      own: output,
      tell: (row, col) => ({
        subject: `${queries[row]} gets: ${contents[col]}`,
        sentence: "What lies in each drawer, times the weight of that drawer.",
        ...products(keys, along(weights, row), down(v, col), ["", "weight", "value"]),
        lights: [lit("A", row), lit("V", undefined, col)],
      }),
    },
  };
}

function tellScore({ q, k, example, state }: DictionaryScene, row: number, key: number): Told {
  const { features } = example;
  const { bandwidth } = state;
  const pair = [along(q, row), along(k, key)] as const;
  const without = lengthOf(q, row) * lengthOf(k, key) === 0 ? " One of them has no direction: 0 by rule." : "";
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
  return { ...told, lights: [lit("Q", row), lit("K", key)] };
}

function tellWeight({ scores, example, state }: DictionaryScene, row: number, key: number, result: number): Told {
  const { queries, keys } = example;
  const { temperature } = state;
  const named = { subject: `weight [${queries[row]}, ${keys[key]}]`, lights: [lit("S", row)] };
  if (temperature === 0) {
    const best = bestOf(scores, row);
    return {
      ...named,
      sentence:
        "At T = 0 the largest score takes all: an exact lookup, or the nearest there is. Of equal scores the first wins.",
      last: `${key === best ? "the largest" : "not the largest"}: ${exact(at(scores, row, key))} → ${result}`,
    };
  }
  if (temperature === Number.POSITIVE_INFINITY) {
    return {
      ...named,
      sentence: "At T = ∞ scores no longer matter: a plain average over all drawers.",
      last: `1 / ${keys.length} = ${exact(result)}`,
    };
  }
  const heated = keys.map((_, index) => at(scores, row, index) / temperature);
  return { ...softened(heated, keys, { at: key, scores: "score / T" }), ...named };
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
      { name: estimate, values: GRID.map((_, row) => at(curve.output, row, 0)), tone: "query" },
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
