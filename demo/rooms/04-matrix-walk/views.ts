// The matrices of the walk: which there are, and how each is shown, with its title, its labels and its colours. Pure.

import type { MatrixView } from "heed/viz";
import type { KernelHead } from "../../src/engine/walk-call.js";
import { columns, largest, type Matrix, multiply, transpose } from "../../src/model/matrix.js";
import { isNameless, type Role, type State } from "../../src/model/state.js";
import type { HeadWalk, Walk } from "../../src/model/walk.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";

const GIVEN = ["X", "Wq", "Wk", "Wv"] as const;
export const MATRICES = [...GIVEN, "Q", "K", "V", "Kt", "S", "Wqk", "Z", "M", "A", "lse", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];
export type Spot = NamedSpot<MatrixName>;

export interface Scene {
  readonly walk: Walk;
  readonly state: State;
  readonly head: HeadWalk;
  readonly kernel: KernelHead | undefined;
}

type Labels = readonly string[];

export function viewOf(name: MatrixName, scene: Scene): MatrixView {
  const { walk, state, head, kernel } = scene;
  const { askers, labels: words, featureNames: features, headWidth } = walk;
  const ofHead = (names: Labels): Labels => names.slice(head.firstColumn, head.firstColumn + headWidth);
  const [questions, values] = [ofHead(walk.questionNames), ofHead(features)];
  const weights = (role: Role) => columns(walk.projections[role], head.firstColumn, headWidth);
  const each = isNameless(state) ? "one element per row" : "one word per row";
  const shown: Readonly<Record<MatrixName, readonly [string, string, Labels, Labels, () => Matrix]>> = {
    X: ["X", each, words, features, () => walk.x],
    Wq: ["W_Q", "what makes a word’s query", features, questions, () => weights("q")],
    Wk: ["W_K", "what makes a word’s key", features, questions, () => weights("k")],
    Wv: ["W_V", "what makes a word’s value", features, values, () => weights("v")],
    Q: ["Q", "queries", askers, questions, () => head.q],
    K: ["K", "keys", words, questions, () => head.k],
    V: ["V", "values", words, values, () => head.v],
    Kt: ["Kᵀ", "keys, one per column", questions, words, () => head.keyTransposed],
    S: ["S", "scores: a row per query", askers, words, () => head.scores],
    Wqk: ["W_Q W_Kᵀ", "both as one matrix", features, features, () => multiply(weights("q"), transpose(weights("k")))],
    Z: [`S × ${exact(walk.scale, 3)}`, "scaled scores", askers, words, () => head.scaled],
    M: ["S masked", "−∞ is out of sight", askers, words, () => head.masked],
    A: ["A", "weights: each row sums to 1", askers, words, () => kernel?.weights ?? head.weights],
    lse: ["lse", "", askers, ["lse"], () => kernel?.lse ?? head.lse],
    O: ["O", "output: averages of V", askers, values, () => kernel?.output ?? head.output],
  };
  const [title, about, rowLabels, colLabels, matrixOf] = shown[name];
  const matrix = matrixOf();
  // Scores keep their colours when they are scaled.
  const coloured = name === "Z" || name === "M" ? head.scores : matrix;
  const struck = (row: number, col: number): boolean => walk.hiddenBy(row, col) !== undefined;
  return {
    name,
    title,
    about,
    matrix,
    rowLabels,
    colLabels,
    tone: name === "A" ? "share" : "signed",
    full: name === "A" ? 1 : Math.max(name === "lse" ? 8 : 1, largest(coloured)),
    ...(GIVEN.some((one) => one === name) ? { editable: true } : {}),
    ...(name === "X" ? { noted: (label: string) => walk.unknown.includes(label) } : {}),
    ...(name === "M" || name === "A" ? { struck } : {}),
  };
}
