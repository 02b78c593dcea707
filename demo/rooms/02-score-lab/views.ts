// The room's matrices. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { largest, type Matrix } from "../../src/model/matrix.js";
import type { ScoreAnswer } from "./calls.js";
import { ABOUT, FEATURES, HIDDEN, KEYS, KINDS, type Kind } from "./kinds.js";
import type { ScoreScene } from "./scene.js";
import { TYPED, type TypedName } from "./state.js";

/** What a kind makes of query and keys on the way to a score. */
export const MADE = ["qW", "H", "gate"] as const;
export type MadeName = (typeof MADE)[number];

export const MATRICES = [...TYPED, ...MADE, "S", "A"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** Which matrices a kind uses and makes, beside q and K. */
export const PARAMETERS: Readonly<Partial<Record<Kind, readonly (TypedName | MadeName)[]>>> = {
  general: ["W", "qW"],
  additive: ["Wq", "Wk", "b", "v", "H"],
  gated: ["g", "gate"],
};

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index + 1}`);

const [KEY_NAMES, UNITS] = [numbered("k", KEYS), numbered("h", HIDDEN)];
const partsOf = (of: string): readonly string[] => FEATURES.map((name) => `${of} ${name}`);
export const [QUERY_PARTS, KEY_PARTS] = [partsOf("q"), partsOf("k")];

/** Titles, notes and labels of what is typed, and of what is made of it. */
const LABELS: Readonly<Record<TypedName | MadeName, Pick<MatrixView, "title" | "about" | "rowLabels" | "colLabels">>> =
  {
    q: { title: "q", about: "the query; change any", rowLabels: ["q"], colLabels: FEATURES },
    K: { title: "K", about: "the keys; change any", rowLabels: KEY_NAMES, colLabels: FEATURES },
    W: { title: "W", about: "of general", rowLabels: QUERY_PARTS, colLabels: KEY_PARTS },
    Wq: { title: "W_q", about: "of additive", rowLabels: UNITS, colLabels: QUERY_PARTS },
    Wk: { title: "W_k", about: "of additive", rowLabels: UNITS, colLabels: KEY_PARTS },
    b: { title: "b", about: "added before the tanh", rowLabels: ["b"], colLabels: UNITS },
    v: { title: "v", about: "weighs the hidden numbers", rowLabels: ["v"], colLabels: UNITS },
    g: {
      title: "w",
      about: "of the gate: the query’s part, then the key’s",
      rowLabels: ["w"],
      colLabels: [...QUERY_PARTS, ...KEY_PARTS],
    },
    qW: { title: "q W", about: "what meets the keys", rowLabels: ["q W"], colLabels: KEY_PARTS },
    H: { title: "H", about: "the hidden numbers, before the tanh", rowLabels: KEY_NAMES, colLabels: UNITS },
    gate: { title: "gate", about: "open at 1", rowLabels: KEY_NAMES, colLabels: ["gate"] },
  };

export function viewOf(name: MatrixName, scene: ScoreScene, answer?: ScoreAnswer): MatrixView {
  const compared = { rowLabels: KINDS.map((kind) => ABOUT[kind].name), colLabels: KEY_NAMES };
  const of = (matrix: Matrix): Pick<MatrixView, "name" | "matrix" | "tone" | "full"> => ({
    name,
    matrix,
    tone: "signed",
    full: Math.max(1, largest(matrix)),
  });
  if (name === "S") return { ...of(scene.scores), title: "S", about: "scores over T", ...compared };
  if (name === "A") {
    const weights = { ...of(answer?.shares ?? scene.shares), tone: "share", full: 1 } as const;
    return { ...weights, title: "A", about: "weights: each row sums to 1", ...compared };
  }
  if (name === "qW" || name === "H" || name === "gate") return { ...of(scene.made[name]), ...LABELS[name] };
  return { ...of(scene.typed[name]), ...LABELS[name], editable: true };
}
