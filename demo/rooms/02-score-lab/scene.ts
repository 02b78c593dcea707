// Scores and weights of every kind for one state, by the reference in double precision; and what heed itself says to them.

import { type ReferenceOptions, attention as reference } from "heed/reference";
import type { Answer, Call, Tensor } from "../../src/engine/engine.js";
import { at, fill, identity, type Matrix, rowsOf, stack, toSingle, widestGap } from "../../src/model/matrix.js";
import { readFormula } from "./formula.js";
import { KEYS, KINDS, type Kind, WIDTH } from "./kinds.js";
import { PLACES } from "./plane.js";
import { type ScoreState, TYPED, type TypedName } from "./state.js";

type Typed = Readonly<Record<TypedName, Matrix>>;

export type ScoreScene = ReturnType<typeof sceneOf>;

export function sceneOf(state: ScoreState) {
  /** In single precision, as the kernel gets it. */
  const typed = Object.fromEntries(TYPED.map((name) => [name, toSingle(state[name])])) as Typed;
  const own = readFormula(state.formula);
  const [query, keys] = [asTensor(typed.q), asTensor(typed.K)];
  const found = KINDS.map((kind) => {
    const { scores, weights } = reference(query, keys, keys, optionsOf({ typed, state, own }, kind));
    // A formula comes after the temperature.
    return { scores: kind === "own" ? scores.masked.data : scores.raw.data, weights: weights.data };
  });
  /** One row a kind. */
  const table = (name: "scores" | "weights"): Matrix =>
    fill(KINDS.length, KEYS, (row, key) => found[row]?.[name][key] ?? Number.NaN);
  const scores = table("scores");
  return { state, typed, scores, weights: table("weights"), own, strange: strangeness(scores) };
}

const asTensor = ({ rows, cols, data }: Matrix) => ({ data: Float32Array.from(data), shape: [rows, cols] });

/** What a softmax cannot take of one's own scores, in words; empty: it can take all. -Infinity masks, all else must be finite. */
function strangeness(scores: Matrix): string {
  const own = rowsOf(scores)[KINDS.indexOf("own")] ?? [];
  const key = own.findIndex((score) => score !== -Infinity && !Number.isFinite(Math.fround(score)));
  if (key < 0) return "";
  const said: Readonly<Partial<Record<string, string>>> = { NaN: "not a number", Infinity: "infinite" };
  return `The score of k${key + 1} is ${said[String(own[key])] ?? "too large for single precision"}.`;
}

/** As both heed and its reference take them. */
type Options = Pick<Call["options"] & ReferenceOptions, "score" | "topK" | "normalize" | "scoreMod">;

/** A kind as options of heed. */
function optionsOf({ typed, state, own }: Pick<ScoreScene, "typed" | "state" | "own">, kind: Kind) {
  const { bandwidth, keep, temperature } = state;
  const { W, Wq, Wk, b, v, g } = typed;
  const row = (matrix: Matrix) => Float32Array.from(matrix.data);
  const special: Readonly<Partial<Record<Kind, Options>>> = {
    "scaled-dot": {},
    general: { score: { type: "general", w: asTensor(W) } },
    additive: { score: { type: "additive", wq: asTensor(Wq), wk: asTensor(Wk), b: row(b), v: row(v) } },
    gated: { score: { type: "gated", w: row(g) } },
    rbf: { score: { type: "rbf", bandwidth } },
    "top-k": { topK: keep },
    sparsemax: { normalize: "sparsemax" },
    own: { scoreMod: () => own },
  };
  const plain = kind === "cosine" || kind === "distance" ? kind : "dot";
  return { ...(special[kind] ?? { score: plain }), temperature };
}

/** The identity as values: the output is the row of weights. */
export function callOf(scene: ScoreScene, kind: Kind): Call {
  const { q, K } = scene.typed;
  return { q: stack([q]), k: stack([K]), v: stack([identity(KEYS)]), options: optionsOf(scene, kind) };
}

/** Every kind, and the plane. */
export function callsOf(scene: ScoreScene): readonly Call[] {
  return [...KINDS.map((kind) => callOf(scene, kind)), onPlane(scene)];
}

/** Every place is an entry of the batch, with a sixth key there; only the value of that one is 1. */
function onPlane(scene: ScoreScene): Call {
  const { q, K } = scene.typed;
  const batch = (rows: number, cols: number, entry: (place: number) => Iterable<number>): Tensor => {
    const data = new Float32Array(PLACES.length * rows * cols);
    for (let place = 0; place < PLACES.length; place++) data.set(Array.from(entry(place)), place * rows * cols);
    return { data, shape: [PLACES.length, 1, rows, cols] };
  };
  return {
    q: batch(1, WIDTH, () => q.data),
    k: batch(KEYS + 1, WIDTH, (place) => [...K.data, ...(PLACES[place] ?? [])]),
    v: batch(KEYS + 1, 1, () => Array.from({ length: KEYS + 1 }, (_, key) => Number(key === KEYS))),
    options: optionsOf(scene, scene.state.kind),
    lean: true,
  };
}

export type ScoreAnswer = ReturnType<typeof readAnswers>;

/** `apart`: from the page's arithmetic, without one's own score where that is strange. `plane`: what one more key would get at PLACES. */
export function readAnswers(scene: ScoreScene, answers: readonly Answer[]) {
  const weights = fill(KINDS.length, KEYS, (row, key) => answers[row]?.weights.data[key] ?? Number.NaN);
  const rows = KINDS.length - (scene.strange === "" ? 0 : 1);
  const compared = (matrix: Matrix): Matrix => fill(rows, KEYS, (row, key) => at(matrix, row, key));
  const plane = answers[KINDS.length]?.output.data ?? new Float32Array();
  return { weights, apart: widestGap(compared(weights), compared(scene.weights)), plane };
}
