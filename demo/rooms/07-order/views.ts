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
  switch (name) {
    case "X":
      return signed("X", "one word per row, as written; change any", vectors, { rowLabels: words, editable: true });
    case "Wq":
    case "Wk": {
      const asks = name === "Wq";
      const about = asks ? "what makes a word ask" : "what makes a word answer";
      return signed(asks ? "W_Q" : "W_K", about, asks ? ASKS : ANSWERS, { rowLabels: FEATURES, colLabels: questions });
    }
    case "Qp":
      return signed("Q", `queries${turned}`, now.plainQ, { colLabels: questions });
    case "Kp":
      return signed("K", `keys${turned}`, now.plainK, { colLabels: questions });
    case "P":
      return signed(
        "P",
        `positions ${state.shift} to ${state.shift + labels.length - 1}, added to X`,
        now.added ?? NOTHING,
      );
    case "angle":
      return signed("angle", "position × speed, one for each pair of columns", anglesOf(scene), {
        colLabels: QUESTIONS.slice(0, QUESTIONS.length / 2).map((_, pair) => `pair ${pair + 1}`),
        full: Math.PI,
      });
    case "Q":
      return signed("Q", "queries, turned", now.q, { colLabels: questions });
    case "K":
      return signed("K", "keys, turned", now.k, { colLabels: questions });
    case "b":
      return signed("b", "added at each distance, key less query; change any", state.biases, {
        rowLabels: ["b"],
        colLabels: Array.from({ length: 2 * REACH + 1 }, (_, index) => distanceName(index - REACH)),
        editable: true,
      });
    case "B":
      return signed("B", "what distance adds to each score", now.bias, pairs);
    case "Z":
      return signed(
        "S",
        `q · k / √8${state.kind === "alibi" || state.kind === "relative" ? " + B" : ""}`,
        now.scores,
        pairs,
      );
    case "A":
      return {
        ...signed("A", "shares: each row sums to 1", answer?.shares ?? now.shares, pairs),
        tone: "share",
        full: 1,
      };
    case "O":
      return signed("O", "what each word takes in", answer?.output ?? now.output);
    case "D":
      return signed("D", "less what the same word took in as written", rounded(answer?.difference ?? difference), {
        full: 1,
      });
  }
}

export function anglesOf({ state, labels }: OrderScene): Matrix {
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
