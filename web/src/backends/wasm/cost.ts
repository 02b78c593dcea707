// Estimates what a call costs, in multiplications. Small calls are computed on the calling thread, which is faster than a worker's
// round trip, and large ones are cut into slices.

import type { AttentionProblem, ScoreFunction } from "../backend.js";

/** A worker's round trip takes 20 to 80 microseconds, as long as a million multiplications. */
const SMALL_MULTIPLICATIONS = 2 ** 20;

/** The least cost of a score, however short its dot product: exponential, softcap, dropout. */
const MIN_SCORE_COST = 64;

/** The cost of a query besides its scores. */
const ROW_OVERHEAD = 1024;

/** Copying this many bytes takes no longer either. */
const SMALL_BYTES = 2 ** 18;

/** The cost of a hyperbolic tangent. */
const TANH_COST = 16;

/** Passes over the scores of normalizers that search a threshold before they make weights. */
const SCORE_PASSES = 6;

export function isSmall(multiplications: number, bytes: number): boolean {
  return multiplications <= SMALL_MULTIPLICATIONS && bytes <= SMALL_BYTES;
}

export function multiplicationsOf(problem: AttentionProblem): number {
  const { query, key, value, score, normalizer, topK } = problem;
  const passes = topK !== null || normalizer === "hard" || normalizer === "sparsemax" ? SCORE_PASSES : 1;
  const [batch, heads, queries] = query.shape;
  const keys = key.shape[2];
  const perScore = score.kind === "additive" ? TANH_COST * score.hidden : score.hidden;
  // An instruction costs about one multiplication.
  const perProgram = problem.programs?.words.length ?? 0;
  const perQuery = ROW_OVERHEAD + keys * Math.max(MIN_SCORE_COST, passes * (perScore + perProgram) + value.shape[3]);
  return batch * heads * (queries * perQuery + projectionCost(score) * (queries + keys));
}

/** An upper bound of what the score function's matrices cost each query and each key. */
function projectionCost({ w, wq, wk }: ScoreFunction): number {
  const sizes = [w, wq, wk].map((matrix) => (matrix === null ? 0 : matrix.shape[2] * matrix.shape[3]));
  return Math.max(...sizes);
}
