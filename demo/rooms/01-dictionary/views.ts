// The room's matrices, drawers and curve. Pure; the room draws them.

import { at, type Matrix } from "../../src/model/matrix.js";
import type { ChartView } from "../../src/ui/heed-chart.js";
import { signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import type { Drawer } from "./cabinet.js";
import type { MatrixName } from "./explain.js";
import { type DictionaryAnswer, type DictionaryScene, GRID } from "./scene.js";

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
  return example.keys.map((name, key) => ({
    name: state.example === "salary" ? `GPA ${exact(at(k, key, 0), 2)}` : name,
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
      name: `GPA ${exact(at(k, key, 0), 2)}: ${exact(salary, 1)}`,
      x: at(k, key, 0),
      y: salary,
      weight: at(weights, 0, key),
    })),
    cursor: gaps.indexOf(Math.min(...gaps)),
  };
}
