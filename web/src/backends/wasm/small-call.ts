// Which calls are done on the calling thread before a worker would have been told of them.

import type { AttentionProblem } from "../backend.js";
import type { Job } from "./job.js";

/** The way to a worker and back takes about as long as a million multiplications: 20 to 80 microseconds. */
const SMALL_MULTIPLICATIONS = 2 ** 20;

/** What a score costs at least, whatever the length of its product, in multiplications: its exponential, softcap, dropout. */
const LEAST_OF_SCORE = 64;

/** What a row costs beside its scores, likewise. */
const OF_ROW = 1024;

/** Copying as much takes no longer than that either. */
const SMALL_BYTES = 2 ** 18;

export function isSmall({ query, key, value }: AttentionProblem, job: Job): boolean {
  const [batch, heads, queries, headDim] = query.shape;
  const ofRow = OF_ROW + key.shape[2] * Math.max(LEAST_OF_SCORE, headDim + value.shape[3]);
  const multiplications = batch * heads * queries * ofRow;
  return multiplications <= SMALL_MULTIPLICATIONS && job.bytes <= SMALL_BYTES;
}
