// How far float32 attention may be from the double-precision reference: bounds from norms and epsilon, never from trying.
//
// With unit roundoff u = 2^-24, key_length S, and b the largest finite |bias|, ALiBi included:
//   score      ds <= score-error.ts's + u * FEW * b                 a dot product's roundings grow as sqrt(D) (Higham and Mary 2019),
//                                                                   and the kernel moves scores to base 2 and shifts them by the maximum
//   lse        ds + u * (GROWTH * sqrt(S) + FEW)                    + u * |lse|
//   weight     p * (2 ds + u * (GROWTH * sqrt(S) + EXP))            + FLUSHED
//                (softcap shrinks the error that comes in, and its tanh adds less than FEW roundings of a number below a)
//   entropy    (1 + ln S) * 4 times a weight's relative error, + lse: of p ln p summed, p with its error and ln p = score - lse
//   output     max|v| * (2 ds + u * (2 * GROWTH * sqrt(S) + EXP))   + FLUSHED * S * max|v|

import type { TensorLike } from "../../web/src/index.js";
import type { ScoreBound } from "./score-error.js";

export const UNIT_ROUNDOFF = 2 ** -24;

/** Constant of the probabilistic bound of a sum's roundings: exceeded with probability 2 exp(-GROWTH^2 / 2), did norms not bound it. */
export const GROWTH = 4;

/** Single roundings along the way of one score: scale, base 2, shift, bias. */
export const FEW = 8;

/** Units in the last place of the exponential and the division. */
const EXP = 16;

/** Exponentials below 2^-80 of the row's largest count as 2^-80. */
const FLUSHED = 2 ** -80;

export interface Bounds {
  /** Absolute. */
  readonly output: number;
  /** Relative to each weight, on top of FLUSHED. */
  readonly weights: number;
  /** Absolute, on top of one rounding of the value. */
  readonly lse: number;
  /** Absolute, likewise. */
  readonly scores: number;
  /** Absolute. */
  readonly entropy: number;
}

/** What the elementary functions of a machine promise. */
export interface Arithmetic {
  /** Relative, of an exponential of a number of at most this size. */
  readonly exp: (size: number) => number;
  /** Absolute, of a logarithm. */
  readonly log: number;
  /** Absolute, of a hyperbolic tangent or a sigmoid. */
  readonly curve: number;
}

/** That of the C++ kernels. */
export const EXACT: Arithmetic = { exp: () => UNIT_ROUNDOFF * EXP, log: 0, curve: 0 };

/**
 * What the WGSL specification grants shaders (section 15.7.4.1, accuracy of concrete floating point expressions), an ULP being 2 u:
 * exp(x) 3 + 2 |x| ULP, log 2^-21, division 2.5 ULP. tanh and sigmoid are heed's own, of one exponential and one division.
 */
export const WGSL: Arithmetic = {
  exp: (size) => UNIT_ROUNDOFF * (EXP + 2 * (3 + 2 * size)),
  log: 2 ** -21,
  curve: 1e-6,
};

export function boundsFor(
  keyLength: number,
  tensors: { readonly value: TensorLike; readonly bias?: TensorLike | undefined },
  ofScore: ScoreBound,
  alibi = 0,
  dropout = 0,
  arithmetic = EXACT,
  softcap = 0,
): Bounds {
  const bias = alibi + (tensors.bias === undefined ? 0 : largest(tensors.bias.data));
  const score = ofScore.error + arithmetic.curve * (ofScore.size + softcap) + UNIT_ROUNDOFF * FEW * bias;
  const exp = arithmetic.exp(2 * (ofScore.size + bias));
  const sum = UNIT_ROUNDOFF * GROWTH * Math.sqrt(keyLength);
  // What dropout keeps it multiplies, which is as if values were larger.
  const v = largest(tensors.value.data) / (dropout < 1 ? 1 - dropout : 1);
  const weights = 2 * score + sum + exp;
  const lse = score + sum + UNIT_ROUNDOFF * FEW + arithmetic.log;
  return {
    scores: score,
    entropy: 4 * weights * (1 + Math.log(Math.max(1, keyLength))) + lse,
    output: v * (2 * score + 2 * sum + exp) + FLUSHED * keyLength * v,
    weights,
    lse,
  };
}

export function withinLse(got: number, expected: number, bounds: Bounds): boolean {
  return got === expected || Math.abs(got - expected) <= bounds.lse + UNIT_ROUNDOFF * Math.abs(expected);
}

export function withinScore(got: number, expected: number, bounds: Bounds): boolean {
  return got === expected || Math.abs(got - expected) <= bounds.scores + UNIT_ROUNDOFF * Math.abs(expected);
}

export function withinEntropy(got: number, expected: number, bounds: Bounds): boolean {
  return Math.abs(got - expected) <= bounds.entropy;
}

export function withinWeight(got: number, expected: number, bounds: Bounds): boolean {
  return Math.abs(got - expected) <= bounds.weights * expected + FLUSHED;
}

export function withinOutput(got: number, expected: number, bounds: Bounds): boolean {
  return Math.abs(got - expected) <= bounds.output;
}

/** The largest Euclidean norm of `dim` numbers in a row: in every layout the numbers of one head lie side by side. */
export function largestNorm(values: ArrayLike<number>, dim: number): number {
  let most = 0;
  for (let start = 0; start < values.length; start += dim) {
    let squares = 0;
    for (let i = start; i < start + dim; i++) squares += (values[i] ?? 0) ** 2;
    if (Number.isFinite(squares)) most = Math.max(most, squares);
  }
  return Math.sqrt(most);
}

/** The largest finite magnitude: what -Infinity masks takes part in no rounding. */
function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i] ?? 0);
    if (magnitude > most && magnitude < Number.POSITIVE_INFINITY) most = magnitude;
  }
  return most;
}
