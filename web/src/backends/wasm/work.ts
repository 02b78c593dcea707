// What calls cost, in multiplications: some are done on the calling thread before a worker would have been told of them, and others
// are cut into slices.

import type { AttentionProblem, ScoreFunction } from "../backend.js";

/** The way to a worker and back takes about as long as a million multiplications: 20 to 80 microseconds. */
const SMALL_MULTIPLICATIONS = 2 ** 20;

/** What a score costs at least, whatever the length of its product, in multiplications: its exponential, softcap, dropout. */
const LEAST_OF_SCORE = 64;

/** What a row costs beside its scores, likewise. */
const OF_ROW = 1024;

/** Copying as much takes no longer than that either. */
const SMALL_BYTES = 2 ** 18;

/** What a hyperbolic tangent costs, likewise. */
const OF_TANH = 16;

/** How often scores are made where they have to be looked at before they become weights. */
const OF_LOOKS = 6;

/** Of any call, by its multiplications and its bytes. */
export function isLittle(multiplications: number, bytes: number): boolean {
  return multiplications <= SMALL_MULTIPLICATIONS && bytes <= SMALL_BYTES;
}

export function multiplicationsOf(problem: AttentionProblem): number {
  const { query, key, value, score, normalizer, topK } = problem;
  const looks = topK !== null || normalizer === "hard" || normalizer === "sparsemax" ? OF_LOOKS : 1;
  const [batch, heads, queries] = query.shape;
  const keys = key.shape[2];
  const ofScore = score.kind === "additive" ? OF_TANH * score.hidden : score.hidden;
  // About as many words as multiplications.
  const ofPrograms = problem.programs?.words.length ?? 0;
  const ofRow = OF_ROW + keys * Math.max(LEAST_OF_SCORE, looks * (ofScore + ofPrograms) + value.shape[3]);
  return batch * heads * (queries * ofRow + ofParameters(score) * (queries + keys));
}

/** What the matrices of a score function cost each query and each key, at most. */
function ofParameters({ w, wq, wk }: ScoreFunction): number {
  const sizes = [w, wq, wk].map((matrix) => (matrix === null ? 0 : matrix.shape[2] * matrix.shape[3]));
  return Math.max(...sizes);
}
