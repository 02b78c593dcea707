// How far a float32 score may be from the exact one, by norms: for each score function a bound of its size, a, which is also
// one of every sum of the magnitudes of its terms, and of its error. With Euclidean norms |.| of the largest row, Frobenius's of
// matrices, |scale| = s, and D the numbers that query and key have in common, of error-model.ts's constants:
//   dot       a = s |q| |k|              u (GROWTH sqrt(D) a + FEW a)
//   cosine    a = s                      thrice that: each length is a sum of D squares
//   general   a = s |q| |w| |k|          dot, and GROWTH 2 sqrt(D_q) a u for the elements of w^T q
//   gated     a = s |q| |k|              dot, and a times the error of the gate's argument: dot's, with |w| |[q; k]|
//   rbf       a = s (|q| + |k|)^2 / 2w^2 thrice dot: of squares of differences
//   distance  a = s (|q| + |k|)          twice dot: half of the squares' relative error, and the root
//   additive  a = s |v| (sum of magnitudes), every tanh being at most 1: dot, 4e-7 a for tanh, and a times the error of its
//             argument: dot's of each projection with the larger |w|

import { numbersOf } from "../../web/src/base/typed-array.js";
import type { Score, ScoreParameter, TensorLike } from "../../web/src/index.js";
import { FEW, GROWTH, largestNorm, UNIT_ROUNDOFF } from "./error-model.js";

/** The error that cpp/kernels/simd/tanh.hpp and sigmoid.hpp state. */
const CURVE = 4e-7;

export interface ScoreBound {
  readonly size: number;
  readonly error: number;
}

export interface ScoreOperands {
  readonly query: TensorLike;
  readonly key: TensorLike;
  readonly queryDim: number;
  readonly headDim: number;
}

export function scoreBound(score: Score | undefined, scale: number, operands: ScoreOperands): ScoreBound {
  const { queryDim, headDim } = operands;
  const s = Math.abs(scale);
  const q = largestNorm(operands.query.data, queryDim);
  const k = largestNorm(operands.key.data, headDim);
  const given = spelt(score ?? "scaled-dot");
  switch (given.type) {
    case "cosine":
      return { size: s, error: 3 * ofProduct(headDim, s) };
    case "distance":
      return { size: s * (q + k), error: 2 * ofProduct(headDim, s * (q + k)) };
    case "rbf": {
      const widths = typeof given.bandwidth === "number" ? [given.bandwidth] : (numbersOf(given.bandwidth) ?? []);
      const size = (s * (q + k) ** 2) / (2 * Math.min(...widths) ** 2);
      return { size, error: 3 * ofProduct(headDim, size) };
    }
    case "general": {
      const size = s * q * normOf(given.w) * k;
      return { size, error: ofProduct(headDim, size) + 2 * UNIT_ROUNDOFF * GROWTH * Math.sqrt(queryDim) * size };
    }
    case "gated": {
      const size = s * q * k;
      const offsets = typeof given.b === "number" ? [given.b] : (numbersOf(given.b ?? [0]) ?? []);
      const argument = normOf(given.w) * Math.hypot(q, k) + Math.max(...offsets.map(Math.abs));
      return { size, error: ofProduct(headDim, size) + size * (2 * ofProduct(2 * headDim, argument) + CURVE) };
    }
    case "additive": {
      const { wq, wk, b, v } = given;
      const hidden = wq?.shape.at(-2) ?? queryDim;
      const size = s * (v === undefined ? hidden : Math.sqrt(hidden) * normOf(v));
      const inQuery = ofProduct(wq === undefined ? 1 : 2 * queryDim, wq === undefined ? q : q * normOf(wq));
      const inKey = ofProduct(wk === undefined ? 1 : 2 * headDim, wk === undefined ? k : k * normOf(wk));
      const offset = UNIT_ROUNDOFF * FEW * (b === undefined ? 0 : normOf(b));
      return { size, error: 2 * ofProduct(hidden, size) + size * (CURVE + inQuery + inKey + offset) };
    }
    default:
      return { size: s * q * k, error: ofProduct(headDim, s * q * k) };
  }
}

/**
 * For an int8 cache: the decode kernel quantizes the query to int16, up to 2^15 - 1 (for D up to 516), with an error of half a scale,
 * max|q| / (2^15 - 1), in each number. A sum of magnitudes of at most sqrt(D) |k| makes that sqrt(D) a / 2^16 and a little more.
 */
export function withInt16Query({ size, error }: ScoreBound, headDim: number): ScoreBound {
  return { size, error: error + (Math.sqrt(headDim) * size) / 65_500 };
}

function spelt(score: Score): Exclude<Score, string> {
  if (typeof score !== "string") return score;
  return score === "additive" ? { type: score } : { type: score };
}

function ofProduct(dim: number, size: number): number {
  return UNIT_ROUNDOFF * (GROWTH * Math.sqrt(dim) * size + FEW * size);
}

/** The bound of all heads together. */
function normOf(parameter: ScoreParameter | Float32Array): number {
  const data = numbersOf(parameter) ?? [];
  return largestNorm(data, Math.max(1, data.length));
}
