// The room's small matrices: the cells around the one in the light, and the vectors behind them. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { at, fill, largest, type Matrix } from "../../src/model/matrix.js";
import type { BringAnswer } from "./calls.js";
import { type BringScene, vectorOf } from "./scene.js";

export const MATRICES = ["Z", "A", "q", "K", "P"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** undefined: there is no such thing where weights are as they were brought. */
export function viewOf(name: MatrixName, scene: BringScene, answer: BringAnswer | undefined): MatrixView | undefined {
  const { cells, vectors, source } = scene;
  const asking = labels("q", cells.top, cells.rows, source.words?.q);
  const answering = labels("k", cells.left, cells.cols, source.words?.k);
  if (name === "A") {
    const matrix = answer?.shares ?? cells.shares;
    return {
      name,
      title: "A",
      about: "shares, of all keys; full colour: the largest here",
      matrix,
      rowLabels: asking,
      colLabels: answering,
      tone: "share",
      full: largest(matrix) || 1,
    };
  }
  if (vectors === undefined || cells.scores === undefined) return undefined;
  const signed = (title: string, about: string, matrix: Matrix, rowLabels: readonly string[]): MatrixView => ({
    name,
    title,
    about,
    matrix,
    rowLabels,
    colLabels: labels("", 0, vectors.width),
    tone: "signed",
    full: largest(matrix) || 1,
  });
  switch (name) {
    case "Z":
      return { ...signed("Z", "scores, scaled", cells.scores, asking), colLabels: answering };
    case "q":
      return signed(
        `q_${scene.row + 1}`,
        "the query",
        vectorOf(vectors, vectors.q, scene.row),
        labels("q", scene.row, 1),
      );
    case "K":
      return signed("K", "keys", keysOf(scene), answering);
    case "P":
      return signed("q ∘ K", "part by part", productsOf(scene), answering);
  }
}

export function keysOf({ vectors, cells }: BringScene): Matrix {
  const width = vectors?.width ?? 0;
  return fill(cells.cols, width, (row, part) => vectors?.k[(cells.left + row) * width + part] ?? Number.NaN);
}

export function productsOf(scene: BringScene): Matrix {
  const { vectors, row } = scene;
  const keys = keysOf(scene);
  return fill(
    keys.rows,
    keys.cols,
    (key, part) => (vectors?.q[row * keys.cols + part] ?? Number.NaN) * at(keys, key, part),
  );
}

/** By their words, else counted from one. */
function labels(letter: string, first: number, count: number, words?: readonly string[]): readonly string[] {
  return Array.from({ length: count }, (_, index) => words?.[first + index] ?? `${letter}${first + index + 1}`);
}
