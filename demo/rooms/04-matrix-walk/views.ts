// How each matrix of the walk is shown: its title, its labels, its colours. Pure.

import type { MatrixView } from "heed/viz";
import { columns, largest, type Matrix, multiply, transpose } from "../../src/model/matrix.js";
import { isNameless, type Role } from "../../src/model/state.js";
import type { MatrixName, Scene } from "./spots.js";

type Axis = "askers" | "words" | "features" | "questions" | "values" | "lse";

interface Shown {
  readonly title: string;
  readonly about: string;
  readonly axes: readonly [rows: Axis, columns: Axis];
  readonly matrix: (scene: Scene) => Matrix;
}

const weights =
  (role: Role) =>
  ({ walk, head }: Scene): Matrix =>
    columns(walk.projections[role], head.firstColumn, walk.headWidth);

const SHOWN: Readonly<Record<MatrixName, Shown>> = {
  X: { title: "X", about: "one word per row", axes: ["words", "features"], matrix: ({ walk }) => walk.x },
  Wq: { title: "W_Q", about: "what makes a word’s query", axes: ["features", "questions"], matrix: weights("q") },
  Wk: { title: "W_K", about: "what makes a word’s key", axes: ["features", "questions"], matrix: weights("k") },
  Wv: { title: "W_V", about: "what makes a word’s value", axes: ["features", "values"], matrix: weights("v") },
  Q: { title: "Q", about: "queries", axes: ["askers", "questions"], matrix: ({ head }) => head.q },
  K: { title: "K", about: "keys", axes: ["words", "questions"], matrix: ({ head }) => head.k },
  V: { title: "V", about: "values", axes: ["words", "values"], matrix: ({ head }) => head.v },
  Kt: { title: "Kᵀ", about: "keys, one per column", axes: ["questions", "words"], matrix: (s) => s.head.keyTransposed },
  S: { title: "S", about: "scores: a row per query", axes: ["askers", "words"], matrix: ({ head }) => head.scores },
  Wqk: {
    title: "W_Q W_Kᵀ",
    about: "both as one matrix",
    axes: ["features", "features"],
    matrix: (scene) => multiply(weights("q")(scene), transpose(weights("k")(scene))),
  },
  Z: { title: "S scaled", about: "", axes: ["askers", "words"], matrix: ({ head }) => head.scaled },
  M: { title: "S masked", about: "−∞ is out of sight", axes: ["askers", "words"], matrix: ({ head }) => head.masked },
  A: {
    title: "A",
    about: "weights: each row sums to 1",
    axes: ["askers", "words"],
    matrix: ({ head, kernel }) => kernel?.weights ?? head.weights,
  },
  lse: { title: "lse", about: "", axes: ["askers", "lse"], matrix: ({ head, kernel }) => kernel?.lse ?? head.lse },
  O: {
    title: "O",
    about: "output: averages of V",
    axes: ["askers", "values"],
    matrix: ({ head, kernel }) => kernel?.output ?? head.output,
  },
};

/** Scores keep their colours when they are scaled. */
const SCORES: ReadonlySet<MatrixName> = new Set(["S", "Z", "M"]);
const GIVEN: ReadonlySet<MatrixName> = new Set(["X", "Wq", "Wk", "Wv"]);

export function viewOf(name: MatrixName, scene: Scene): MatrixView {
  const { walk, state, head } = scene;
  const { title, about, axes, matrix: matrixOf } = SHOWN[name];
  const slice = (names: readonly string[]): readonly string[] =>
    names.slice(head.firstColumn, head.firstColumn + walk.headWidth);
  const labels: Readonly<Record<Axis, readonly string[]>> = {
    askers: walk.askers,
    words: walk.labels,
    features: walk.featureNames,
    questions: slice(walk.questionNames),
    values: slice(walk.featureNames),
    lse: ["lse"],
  };
  const matrix = matrixOf(scene);
  const struck = (row: number, col: number): boolean => walk.hiddenBy(row, col) !== undefined;
  return {
    name,
    title,
    about:
      name === "X" && isNameless(state)
        ? "one element per row"
        : name === "Z"
          ? `times ${walk.scale.toFixed(3)}`
          : about,
    matrix,
    rowLabels: labels[axes[0]],
    colLabels: labels[axes[1]],
    tone: name === "A" ? "share" : "signed",
    full: name === "A" ? 1 : Math.max(name === "lse" ? 8 : 1, largest(SCORES.has(name) ? head.scores : matrix)),
    ...(GIVEN.has(name) ? { editable: true } : {}),
    ...(name === "X" ? { noted: (label: string) => walk.unknown.includes(label) } : {}),
    ...(name === "M" || name === "A" ? { struck } : {}),
  };
}
