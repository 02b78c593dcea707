// Every kind as a call of heed, and what heed says to it.

import type { Score } from "heed";
import type { Answer, Call } from "../../src/engine/engine.js";
import { at, fill, identity, type Matrix, stack, widestGap } from "../../src/model/matrix.js";
import { KEYS, KINDS, type Kind } from "./kinds.js";
import type { ScoreScene } from "./scene.js";

export interface ScoreAnswer {
  readonly shares: Matrix;
  /** To the page's own arithmetic; without one's own score where that is strange. */
  readonly apart: number;
}

export function callsOf(scene: ScoreScene): readonly Call[] {
  const { q, K } = scene.typed;
  return KINDS.map((kind) => ({
    q: stack([q]),
    k: stack([K]),
    // The identity as values: the output is the row of shares.
    v: stack([identity(KEYS)]),
    options: {
      score: scoreOf(kind, scene),
      temperature: scene.state.temperature,
      ...normalizerOf(kind, scene),
      ...(kind === "own" ? { scoreMod: () => scene.own } : {}),
    },
  }));
}

function scoreOf(kind: Kind, { typed, state }: ScoreScene): Score {
  const tensor = ({ rows, cols, data }: Matrix) => ({ data: Float32Array.from(data), shape: [rows, cols] });
  const row = ({ data }: Matrix) => Float32Array.from(data);
  switch (kind) {
    case "general":
      return { type: kind, w: tensor(typed.W) };
    case "additive":
      return { type: kind, wq: tensor(typed.Wq), wk: tensor(typed.Wk), b: row(typed.b), v: row(typed.v) };
    case "gated":
      return { type: kind, w: row(typed.g) };
    case "rbf":
      return { type: kind, bandwidth: state.bandwidth };
    case "top-k":
    case "sparsemax":
    case "own":
      return "scaled-dot";
    default:
      return kind;
  }
}

function normalizerOf(kind: Kind, { state }: ScoreScene): Pick<Call["options"], "topK" | "normalize"> {
  if (kind === "top-k") return { topK: state.keep };
  return kind === "sparsemax" ? { normalize: "sparsemax" } : {};
}

export function readAnswers(scene: ScoreScene, answers: readonly Answer[]): ScoreAnswer {
  const shares = fill(KINDS.length, KEYS, (row, key) => answers[row]?.weights.data[key] ?? Number.NaN);
  // One's own is the last.
  const rows = KINDS.length - (scene.strange === "" ? 0 : 1);
  const compared = (matrix: Matrix): Matrix => fill(rows, KEYS, (row, key) => at(matrix, row, key));
  return { shares, apart: widestGap(compared(shares), compared(scene.shares)) };
}
