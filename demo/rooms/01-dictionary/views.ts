// The room's matrices, drawers and curve. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { at, largest, type Matrix } from "../../src/model/matrix.js";
import type { Drawer } from "../../src/ui/heed-cabinet.js";
import type { ChartView } from "../../src/ui/heed-chart.js";
import { exact } from "../../src/ui/numbers.js";
import type { DictionaryAnswer } from "./calls.js";
import type { MatrixName } from "./explain.js";
import { type DictionaryScene, GRID } from "./scene.js";

export function viewOf(name: MatrixName, scene: DictionaryScene, answer?: DictionaryAnswer): MatrixView {
  const { q, k, v, scores, shares, output } = { ...scene, ...answer };
  const { queries, keys, features, contents } = scene.example;
  const view = (about: string, matrix: Matrix, rows: readonly string[], cols: readonly string[]): MatrixView => ({
    name,
    title: name,
    about,
    matrix,
    rowLabels: rows,
    colLabels: cols,
    tone: "signed",
    full: Math.max(1, largest(matrix)),
  });
  switch (name) {
    case "Q":
      return { ...view("queries; change any", q, queries, features), editable: true };
    case "K":
      return { ...view("keys, on the drawers; change any", k, keys, features), editable: true };
    case "V":
      return { ...view("values, in the drawers; change any", v, keys, contents), editable: true };
    case "S":
      return view("scores: how alike", scores, queries, keys);
    case "A":
      return { ...view("attention weights: each row sums to 1", shares, queries, keys), tone: "share", full: 1 };
    case "O":
      return view("what each query gets", output, queries, contents);
  }
}

export function drawersOf(scene: DictionaryScene, answer?: DictionaryAnswer): readonly Drawer[] {
  const { example, q, k, v, state } = scene;
  const shares = answer?.shares ?? scene.shares;
  return example.keys.map((name, key) => ({
    name: state.example === "salary" ? `GPA ${exact(at(k, key, 0), 2)}` : name,
    content: contentOf(v, key, example.contents),
    share: at(shares, state.asker, key),
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
  const shares = answer?.shares ?? scene.shares;
  const values = Array.from(v.data);
  const [least, most] = [Math.min(0, ...values), Math.max(1, ...values)];
  const asked = at(q, 0, 0);
  const gaps = GRID.map((grade) => Math.abs(grade - asked));
  return {
    label: "Estimated salary against the GPA that is asked for",
    x: { name: "GPA", values: GRID, log: false, ticks: [1.5, 2, 2.5, 3, 3.5, 4, 4.5] },
    y: { name: "salary, thousand a year (invented)", least, most: most * 1.1 },
    series: [
      {
        name: state.score === "rbf" ? "Nadaraya–Watson estimate" : "estimate",
        values: GRID.map((_, row) => at(output, row, 0)),
        tone: "query",
      },
      { name: "plain average", values: GRID.map(() => meanOf(values)), tone: "soft", dashed: true },
    ],
    dots: values.map((salary, key) => ({
      name: `GPA ${exact(at(k, key, 0), 2)}: ${exact(salary, 1)}`,
      x: at(k, key, 0),
      y: salary,
      weight: at(shares, 0, key),
    })),
    cursor: gaps.indexOf(Math.min(...gaps)),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
