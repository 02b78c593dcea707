// Scores and weights of every kind for one state, by the reference in double precision.

import type { Expr } from "heed/expr";
import { attention as reference } from "heed/reference";
import { at, fill, type Matrix, multiply, toSingle, transpose } from "../../src/model/matrix.js";
import { readFormula } from "./formula.js";
import { KEYS, KINDS, WIDTH } from "./kinds.js";
import { optionsOf, parametersOf, type Typed } from "./options.js";
import { type ScoreState, TYPED } from "./state.js";

export interface ScoreScene {
  readonly state: ScoreState;
  /** What is typed, in single precision, as the kernel gets it. */
  readonly typed: Typed;
  /** One row a kind. */
  readonly scores: Matrix;
  readonly weights: Matrix;
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
  const own = readFormula(state.formula);
  const parameters = parametersOf(typed, state, own);
  const [query, keys] = [asTensor(q), asTensor(K)];
  const found = KINDS.map((kind) => {
    const options = { ...optionsOf(kind, parameters), temperature: state.temperature };
    const { scores, weights } = reference(query, keys, keys, options);
    // A formula comes after the temperature.
    return { scores: kind === "own" ? scores.masked.data : scores.raw.data, weights: weights.data };
  });
  const table = (name: "scores" | "weights"): Matrix =>
    fill(KINDS.length, KEYS, (row, key) => found[row]?.[name][key] ?? Number.NaN);
  const scores = table("scores");
  const made = { qW: multiply(q, typed.W), H: hidden, gate };
  return { state, typed, scores, weights: table("weights"), made, own, strange: strangeness(scores) };
}

const asTensor = ({ rows, cols, data }: Matrix) => ({ data, shape: [rows, cols] });

function typedOf(state: ScoreState): Typed {
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
export function gateScore({ q, K, g }: Typed, key: number): number {
  let sum = 0;
  for (let col = 0; col < WIDTH; col++) sum += at(g, 0, col) * at(q, 0, col) + at(g, 0, WIDTH + col) * at(K, key, col);
  return sum;
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
