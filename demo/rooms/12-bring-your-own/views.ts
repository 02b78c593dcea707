// The room's small matrices: the cells around the one in the light, and the vectors behind them. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { at, fill, largest, type Matrix } from "../../src/model/matrix.js";
import type { BringAnswer } from "./calls.js";
import { type BringScene, vectorOf } from "./scene.js";

export const MATRICES = ["Z", "A", "q", "K", "P"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** undefined: there is no such thing where weights are as they were brought. */
export function viewOf(name: MatrixName, scene: BringScene, answer: BringAnswer | undefined): MatrixView | undefined {
  const { cells, vectors, source, row } = scene;
  const queries = labels("q", cells.top, cells.rows, source.words?.q);
  const keys = labels("k", cells.left, cells.cols, source.words?.k);
  const view = (title: string, about: string, matrix: Matrix, rowLabels: readonly string[], colLabels = keys) => {
    const full = largest(matrix) || 1;
    return { name, title, about, matrix, rowLabels, colLabels, tone: "signed", full } as const;
  };
  if (name === "A") {
    const about = "attention weights; full colour: the largest here";
    return { ...view("A", about, answer?.shares ?? cells.shares, queries), tone: "share" };
  }
  if (vectors === undefined || cells.scores === undefined) return undefined;
  const parts = labels("", 0, vectors.width);
  switch (name) {
    case "Z":
      return view("Z", "scores, scaled", cells.scores, queries);
    case "q":
      return view(`q_${row + 1}`, "the query", vectorOf(vectors, vectors.q, row), labels("q", row, 1), parts);
    case "K":
      return view("K", "keys", keysOf(scene), keys, parts);
    case "P":
      return view("q ∘ K", "part by part", productsOf(scene), keys, parts);
  }
}

function keysOf({ vectors, cells }: BringScene): Matrix {
  const width = vectors?.width ?? 0;
  return fill(cells.cols, width, (row, part) => vectors?.k[(cells.left + row) * width + part] ?? Number.NaN);
}

function productsOf(scene: BringScene): Matrix {
  const { vectors, row } = scene;
  const keys = keysOf(scene);
  const queryAt = (part: number): number => vectors?.q[row * keys.cols + part] ?? Number.NaN;
  return fill(keys.rows, keys.cols, (key, part) => queryAt(part) * at(keys, key, part));
}

/** By their words, else counted from one. */
function labels(letter: string, first: number, count: number, words?: readonly string[]): readonly string[] {
  return Array.from({ length: count }, (_, index) => words?.[first + index] ?? `${letter}${first + index + 1}`);
}
