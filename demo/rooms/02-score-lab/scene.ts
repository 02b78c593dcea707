// Scores and shares of every kind for one state, by the page's own arithmetic.

import type { Expr } from "heed/expr";
import { attention as reference } from "heed/reference";
import { at, fill, type Matrix, multiply, toSingle, transpose } from "../../src/model/matrix.js";
import { cosineOf, dotOf, squaredDistance } from "../../src/model/similarity.js";
import { softmax } from "../../src/model/softmax.js";
import { readFormula } from "./formula.js";
import { KEYS, KINDS, type Kind, WIDTH } from "./kinds.js";
import { type ScoreState, TYPED, type TypedName } from "./state.js";

export interface ScoreScene {
  readonly state: ScoreState;
  /** What is typed, in single precision, as the kernel gets it. */
  readonly typed: Readonly<Record<TypedName, Matrix>>;
  /** One row a kind. */
  readonly scores: Matrix;
  readonly shares: Matrix;
  /** Of general: q W. Of additive: what goes into the tanh, one row a key. Of gated: one number a key, from 0 to 1. */
  readonly made: Readonly<Record<"qW" | "H" | "gate", Matrix>>;
  /** Of one's own: the formula, read. */
  readonly own: Expr;
  /** What a softmax cannot take of one's own scores, in words; empty: it can take all. */
  readonly strange: string;
}

export function sceneOf(state: ScoreState): ScoreScene {
  const typed = typedOf(state);
  const { q, K } = typed;
  const [ofQuery, ofKeys] = [multiply(q, transpose(typed.Wq)), multiply(K, transpose(typed.Wk))];
  const hidden = fill(
    KEYS,
    ofQuery.cols,
    (key, unit) => at(ofQuery, 0, unit) + at(ofKeys, key, unit) + at(typed.b, 0, unit),
  );
  const gate = fill(KEYS, 1, (key) => 1 / (1 + Math.exp(-gateScore(typed, key))));
  const qW = multiply(q, typed.W);
  const own = readFormula(state.formula);
  const score: Readonly<Record<Exclude<Kind, "own">, (key: number) => number>> = {
    dot: (key) => dotOf(q, 0, K, key),
    "scaled-dot": (key) => dotOf(q, 0, K, key) / Math.sqrt(WIDTH),
    general: (key) => dotOf(qW, 0, K, key),
    additive: (key) => {
      let sum = 0;
      for (let unit = 0; unit < hidden.cols; unit++) sum += at(typed.v, 0, unit) * Math.tanh(at(hidden, key, unit));
      return sum;
    },
    gated: (key) => at(gate, key, 0) * dotOf(q, 0, K, key),
    cosine: (key) => cosineOf(q, 0, K, key),
    rbf: (key) => -squaredDistance(q, 0, K, key) / (2 * state.bandwidth ** 2),
    distance: (key) => -Math.sqrt(squaredDistance(q, 0, K, key)),
    "top-k": (key) => dotOf(q, 0, K, key) / Math.sqrt(WIDTH),
    sparsemax: (key) => dotOf(q, 0, K, key) / Math.sqrt(WIDTH),
  };
  const rewritten = ownScores(typed, state.temperature, own);
  const scores = fill(KINDS.length, KEYS, (row, key) => {
    const kind = KINDS[row] ?? "dot";
    return kind === "own" ? (rewritten[key] ?? Number.NaN) : score[kind](key) / state.temperature;
  });
  const [shares, strange] = [sharesOf(scores, state.keep), strangeness(scores)];
  return { state, typed, scores, shares, made: { qW, H: hidden, gate }, own, strange };
}

/** The temperature divides before the formula. */
function ownScores({ q, K }: Pick<ScoreScene["typed"], "q" | "K">, temperature: number, own: Expr): Float64Array {
  const [query, key] = [q, K].map(({ rows, cols, data }) => ({ data, shape: [rows, cols] }));
  if (query === undefined || key === undefined) return new Float64Array();
  return reference(query, key, key, { score: "scaled-dot", temperature, scoreMod: () => own }).scores.masked.data;
}

function typedOf(state: ScoreState): Readonly<Record<TypedName, Matrix>> {
  const { q, K, W, Wq, Wk, b, v, g } = state;
  const all = { q, K, W, Wq, Wk, b, v, g };
  for (const name of TYPED) all[name] = toSingle(all[name]);
  return all;
}

/** -Infinity masks; no other score may be anything but a finite number. */
function strangeness(scores: Matrix): string {
  const row = KINDS.indexOf("own");
  for (let key = 0; key < scores.cols; key++) {
    const score = at(scores, row, key);
    if (score === Number.NEGATIVE_INFINITY || Number.isFinite(Math.fround(score))) continue;
    const what = Number.isNaN(score)
      ? "not a number"
      : score === Infinity
        ? "infinite"
        : "too large for single precision";
    return `The score of k${key + 1} is ${what}.`;
  }
  return "";
}

/** What the gate's sigmoid is given. */
export function gateScore({ q, K, g }: Readonly<Record<TypedName, Matrix>>, key: number): number {
  let sum = 0;
  for (let col = 0; col < WIDTH; col++) sum += at(g, 0, col) * at(q, 0, col) + at(g, 0, WIDTH + col) * at(K, key, col);
  return sum;
}

function sharesOf(scores: Matrix, keep: number): Matrix {
  const kept = fill(scores.rows, scores.cols, (row, key) =>
    KINDS[row] !== "top-k" || rankOf(scores, row, key) < keep ? at(scores, row, key) : Number.NEGATIVE_INFINITY,
  );
  const soft = softmax(kept);
  const threshold = thresholdOf(scores, KINDS.indexOf("sparsemax"));
  return fill(scores.rows, scores.cols, (row, key) =>
    KINDS[row] === "sparsemax" ? Math.max(0, at(scores, row, key) - threshold) : at(soft, row, key),
  );
}

/** How many keys come before this one, the first of equals first. */
export function rankOf(scores: Matrix, row: number, key: number): number {
  const own = at(scores, row, key);
  let before = 0;
  for (let other = 0; other < scores.cols; other++) {
    const score = at(scores, row, other);
    if (score > own || (score === own && other < key)) before += 1;
  }
  return before;
}

/** With which the scores above it, less it, add up to 1: from the sorted scores, as Martins and Astudillo have it. */
export function thresholdOf(scores: Matrix, row: number): number {
  const sorted = Array.from({ length: scores.cols }, (_, key) => at(scores, row, key)).sort((a, b) => b - a);
  let [sum, threshold] = [0, 0];
  sorted.forEach((score, index) => {
    sum += score;
    if (1 + (index + 1) * score > sum) threshold = (sum - 1) / (index + 1);
  });
  return threshold;
}
