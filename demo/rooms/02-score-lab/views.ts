// The room's matrices. Pure; the room draws them.

import { numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { ABOUT, FEATURES, HIDDEN, KEYS, KINDS, type Kind } from "./kinds.js";
import type { ScoreAnswer, ScoreScene } from "./scene.js";
import { TYPED, type TypedName } from "./state.js";

/** What a kind makes of query and keys on the way to a score. */
const MADE = ["qW", "H", "gate"] as const;
export type MadeName = (typeof MADE)[number];

export const MATRICES = [...TYPED, ...MADE, "S", "A"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** Which matrices a kind uses and makes, beside q and K. */
export const PARAMETERS: Readonly<Partial<Record<Kind, readonly (TypedName | MadeName)[]>>> = {
  general: ["W", "qW"],
  additive: ["Wq", "Wk", "b", "v", "H"],
  gated: ["g", "gate"],
};

const KEY_NAMES = numbered("k", KEYS);
export const UNITS = numbered("h", HIDDEN);
const partsOf = (of: string): readonly string[] => FEATURES.map((name) => `${of} ${name}`);
export const [QUERY_PARTS, KEY_PARTS] = [partsOf("q"), partsOf("k")];

export function viewsOf({ typed, made, scores, weights }: ScoreScene, answer?: ScoreAnswer) {
  const names = KINDS.map((kind) => ABOUT[kind].name);
  const editable = (...parts: Parameters<typeof signed>): View => ({ ...signed(...parts), editable: true });
  return {
    q: editable("q", "the query; change any", typed.q, ["q"], FEATURES),
    K: editable("K", "the keys; change any", typed.K, KEY_NAMES, FEATURES),
    W: editable("W", "of general", typed.W, QUERY_PARTS, KEY_PARTS),
    Wq: editable("W_q", "of additive", typed.Wq, UNITS, QUERY_PARTS),
    Wk: editable("W_k", "of additive", typed.Wk, UNITS, KEY_PARTS),
    b: editable("b", "added before the tanh", typed.b, ["b"], UNITS),
    v: editable("v", "weighs the hidden numbers", typed.v, ["v"], UNITS),
    g: editable("w", "of the gate: the query’s part, then the key’s", typed.g, ["w"], [...QUERY_PARTS, ...KEY_PARTS]),
    qW: signed("q W", "what meets the keys", made.qW, ["q W"], KEY_PARTS),
    H: signed("H", "the hidden numbers, before the tanh", made.H, KEY_NAMES, UNITS),
    gate: signed("gate", "open at 1", made.gate, KEY_NAMES, ["gate"]),
    S: signed("S", "scores over T", scores, names, KEY_NAMES),
    A: weighed("A", "weights: each row sums to 1", answer?.weights ?? weights, names, KEY_NAMES),
  } satisfies Record<MatrixName, View>;
}
