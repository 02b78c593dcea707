// The room's matrices: titles, labels, colours. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { at, fill, largest, type Matrix } from "../../src/model/matrix.js";
import type { OrderAnswer } from "./calls.js";
import { speed } from "./positions.js";
import type { OrderScene } from "./scene.js";
import { type Kind, REACH } from "./state.js";
import { ROUNDING } from "./texts.js";
import { ANSWERS, ASKS, FEATURES, QUESTIONS } from "./vectors.js";

export const MATRICES = ["X", "Wq", "Wk", "Qp", "Kp", "P", "angle", "Q", "K", "b", "B", "Z", "A", "O", "D"] as const;
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

export const VECTOR_MATRICES: readonly MatrixName[] = ["X", "Wq", "Wk", "Qp", "Kp"];

const NOTHING: Matrix = { rows: 0, cols: 0, data: new Float64Array(0) };

export function viewOf(name: MatrixName, scene: OrderScene, answer?: OrderAnswer): MatrixView {
  const { state, labels, words, now, vectors, difference } = scene;
  const questions = QUESTIONS.map((question) => question.name);
  const signed = (title: string, about: string, matrix: Matrix, more: Partial<MatrixView> = {}): MatrixView => ({
    name,
    title,
    about,
    matrix,
    rowLabels: labels,
    colLabels: FEATURES,
    tone: "signed",
    full: Math.max(1, largest(matrix)),
    ...more,
  });
  const turned = state.kind === "rope" ? ", before they are turned" : "";
  const struck = (row: number, col: number): boolean => state.kind === "causal" && col > row;
  const pairs = { colLabels: labels, struck };
  const asked = { colLabels: questions };
  const weights = (role: "query" | "key", matrix: Matrix) =>
    signed(role === "query" ? "W_Q" : "W_K", `what makes a word’s ${role}`, matrix, { rowLabels: FEATURES, ...asked });
  const last = state.shift + labels.length - 1;
  const plusB = state.kind === "alibi" || state.kind === "relative" ? " + B" : "";
  const distances = Array.from({ length: 2 * REACH + 1 }, (_, index) => distanceName(index - REACH));
  const given = { rowLabels: ["b"], colLabels: distances, editable: true };
  const pairNames = QUESTIONS.slice(0, QUESTIONS.length / 2).map((_, pair) => `pair ${pair + 1}`);
  const ofAngles = { colLabels: pairNames, full: Math.PI };
  const isWeight = { ...pairs, tone: "share", full: 1 } as const;
  const views: Readonly<Record<MatrixName, () => MatrixView>> = {
    X: () => signed("X", "one word per row, as written; change any", vectors, { rowLabels: words, editable: true }),
    Wq: () => weights("query", ASKS),
    Wk: () => weights("key", ANSWERS),
    Qp: () => signed("Q", `queries${turned}`, now.plainQ, asked),
    Kp: () => signed("K", `keys${turned}`, now.plainK, asked),
    P: () => signed("P", `positions ${state.shift} to ${last}, added to X`, now.added ?? NOTHING),
    angle: () => signed("angle", "position × speed, one for each pair of columns", anglesOf(scene), ofAngles),
    Q: () => signed("Q", "queries, turned", now.q, asked),
    K: () => signed("K", "keys, turned", now.k, asked),
    b: () => signed("b", "added at each distance, key less query; change any", state.biases, given),
    B: () => signed("B", "what distance adds to each score", now.bias, pairs),
    Z: () => signed("S", `q · k / √8${plusB}`, now.scores, pairs),
    A: () => signed("A", "attention weights: each row sums to 1", answer?.weights ?? now.weights, isWeight),
    O: () => signed("O", "output of each word", answer?.output ?? now.output),
    D: () => signed("D", "change against the order as written", rounded(answer?.difference ?? difference), { full: 1 }),
  };
  return views[name]();
}

function anglesOf({ state, labels }: OrderScene): Matrix {
  return fill(labels.length, QUESTIONS.length / 2, (row, pair) => (state.shift + row) * speed(state.base, pair));
}

export function cellOf(name: MatrixName, scene: OrderScene, row: number, col: number): number {
  return at(viewOf(name, scene).matrix, row, col);
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
