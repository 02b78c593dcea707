// The room's matrices: titles, labels, colours. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { fill, type Matrix } from "../../src/model/matrix.js";
import { numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import type { OrderAnswer } from "./calls.js";
import { speed } from "./positions.js";
import type { OrderScene } from "./scene.js";
import { type Kind, REACH } from "./state.js";
import { ROUNDING } from "./texts.js";
import { ANSWERS, ASKS, FEATURES, QUESTION_NAMES } from "./vectors.js";

/** Those that are always there, as they stand below the words. */
export const LINES = [["O", "D"], ["Z", "A"], ["X"], ["Wq", "Wk"], ["Qp", "Kp"]] as const;
export const MATRICES = [...LINES.flat(), "P", "angle", "Q", "K", "b", "B"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** What is shown of the positions, kind by kind. */
export const POSITION_MATRICES: Readonly<Record<Kind, readonly MatrixName[]>> = {
  none: [],
  causal: [],
  sinusoidal: ["P"],
  learned: ["P"],
  rope: ["angle", "Q", "K"],
  alibi: ["B"],
  relative: ["b", "B"],
};

const NOTHING: Matrix = { rows: 0, cols: 0, data: new Float64Array(0) };
const DISTANCES = Array.from({ length: 2 * REACH + 1 }, (_, index) => distanceName(index - REACH));
const PAIR_NAMES = numbered("pair ", QUESTION_NAMES.length / 2);

export function viewOf(name: MatrixName, scene: OrderScene, answer?: OrderAnswer): MatrixView {
  const { state, labels, words, now, vectors, difference } = scene;
  const turned = state.kind === "rope" ? ", before they are turned" : "";
  const last = state.shift + labels.length - 1;
  const plusB = state.kind === "alibi" || state.kind === "relative" ? " + B" : "";
  const struck = (row: number, col: number): boolean => state.kind === "causal" && col > row;
  const perWord = (title: string, about: string, matrix: Matrix, columns: readonly string[] = FEATURES): View =>
    signed(title, about, matrix, labels, columns);
  const angles = () =>
    fill(labels.length, PAIR_NAMES.length, (row, pair) => (state.shift + row) * speed(state.base, pair));
  const added = "added at each distance, key less query; change any";
  const moved = answer?.difference ?? difference;
  const weights = answer?.weights ?? now.weights;
  const views: Readonly<Record<MatrixName, () => View>> = {
    X: () => ({ ...signed("X", "one word per row, as written; change any", vectors, words, FEATURES), editable: true }),
    Wq: () => signed("W_Q", "what makes a word’s query", ASKS, FEATURES, QUESTION_NAMES),
    Wk: () => signed("W_K", "what makes a word’s key", ANSWERS, FEATURES, QUESTION_NAMES),
    Qp: () => perWord("Q", `queries${turned}`, now.plainQ, QUESTION_NAMES),
    Kp: () => perWord("K", `keys${turned}`, now.plainK, QUESTION_NAMES),
    P: () => perWord("P", `positions ${state.shift} to ${last}, added to X`, now.added ?? NOTHING),
    angle: () => ({
      ...perWord("angle", "position × speed, one for each pair of columns", angles(), PAIR_NAMES),
      full: Math.PI,
    }),
    Q: () => perWord("Q", "queries, turned", now.q, QUESTION_NAMES),
    K: () => perWord("K", "keys, turned", now.k, QUESTION_NAMES),
    b: () => ({ ...signed("b", added, state.biases, ["b"], DISTANCES), editable: true }),
    B: () => ({ ...perWord("B", "what distance adds to each score", now.bias, labels), struck }),
    Z: () => ({ ...perWord("S", `q · k / √8${plusB}`, now.scores, labels), struck }),
    A: () => ({ ...weighed("A", "attention weights: each row sums to 1", weights, labels, labels), struck }),
    O: () => perWord("O", "output of each word", answer?.output ?? now.output),
    D: () => ({ ...perWord("D", "change against the order as written", rounded(moved)), full: 1 }),
  };
  return { name, ...views[name]() };
}

/** What rounding alone makes is no difference. */
function rounded(matrix: Matrix): Matrix {
  return { ...matrix, data: matrix.data.map((value) => (Math.abs(value) < ROUNDING ? 0 : value)) };
}

function distanceName(distance: number): string {
  const sign = distance > 0 ? "+" : distance < 0 ? "−" : "";
  const beyond = Math.abs(distance) === REACH ? "…" : "";
  return `${sign}${Math.abs(distance)}${beyond}`;
}
