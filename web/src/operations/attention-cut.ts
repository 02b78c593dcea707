// How attention is cut: by batch entries, by KV heads with the query heads that read them, and by queries. A slice gives the bits of
// the whole call, because C++ is told what it is a slice of (SliceOf in heed/attention.hpp).

import type { AttentionProblem } from "../backends/backend.js";
import type { Cut, CutAxis, NarrowedView } from "../backends/cut.js";
import { ATTENTION_CALL as CALL } from "../backends/wasm/generated/attention-call.js";

/** Means that a side of the window, or a range of weight rows, has no end. */
export const OPEN = -1;

/** Fewer queries would not fill a panel of the kernels and would reuse K and V too little. A slice has fewer only where one query is much work. */
const MIN_QUERIES = 16;

/** Views by query head and query. */
const QUERY_VIEWS = [CALL.query, CALL.mask, CALL.bias, CALL.output, CALL.lse, CALL.scores, CALL.entropy];

/** A slice reads the parameters of the score function, the block mask and all other numbers whole, and should have at most `most` multiplications. */
export function attentionCut(problem: AttentionProblem, multiplications: number, most: number): Cut {
  const { query, key, score } = problem;
  const [batch, heads, queries] = query.shape;
  const [, groups, keys] = key.shape;
  const perGroup = heads / groups;
  const perQuery = multiplications / (batch * heads * queries);
  // Additive scores project the keys, and each slice does so again.
  const keyProjection = score.wk === null ? 0 : keys * score.wk.shape[2] * score.wk.shape[3];
  const enough = Math.ceil(Math.max(most, keyProjection) / perQuery);
  const weights = weightsOf(problem);
  const narrowed = (axis: number, per: number, words: readonly number[]): NarrowedView[] =>
    words.map((word) => [word, axis, per]);

  const byBatch: CutAxis = {
    count: batch,
    views: narrowed(0, 1, [...QUERY_VIEWS, CALL.key, CALL.value, weights.word]),
    starts: [[CALL.sliceOf, 1]],
  };
  const byHead: CutAxis = {
    count: groups,
    views: [...narrowed(1, perGroup, [...QUERY_VIEWS, weights.word]), ...narrowed(1, 1, [CALL.key, CALL.value])],
    starts: [[CALL.sliceOf + 1, perGroup]],
  };
  const byQuery: CutAxis = {
    count: queries,
    step: queries < MIN_QUERIES ? queries : Math.min(enough, MIN_QUERIES),
    views: [...narrowed(2, 1, QUERY_VIEWS), [weights.word, 2, 1, weights.from]],
    starts: [[CALL.sliceOf + 2, 1]],
    shares: true,
    // Under a causal mask later queries see more keys, and the longest tasks should start first.
    fromEnd: true,
  };
  // The mean of the weights is over all heads, so one slice must have all of them.
  if (weights.word === CALL.meanWeights) return { axes: [byBatch, byQuery] };
  // Where each head of K is contiguous in memory, a range of heads is as well.
  const isByHead = key.strides[1] >= key.strides[2];
  const axes = isByHead ? [byBatch, byHead, byQuery] : [byBatch, byQuery, byHead];
  return weights.to === OPEN ? { axes } : { axes, finish: countRows };
}

/** Where a call has its weights, and of which queries. */
export function weightsOf({ weights }: AttentionProblem): { word: number; from: number; to: number } {
  const form = weights?.form;
  if (form?.of === "rows") return { word: CALL.weights, from: form.from, to: form.to };
  return { word: form ? CALL.meanWeights : CALL.weights, from: 0, to: OPEN };
}

/** Counts the rows of weights from the slice's first query. One without any has no weights. */
function countRows(slice: Int32Array, whole: Int32Array): void {
  const rows = slice[CALL.weights + 3] ?? 0;
  const begin = Math.max(0, (whole[CALL.weightRowsBegin] ?? 0) - (slice[CALL.sliceOf + 2] ?? 0));
  slice[CALL.weightRowsBegin] = begin;
  slice[CALL.weightRowsEnd] = rows > 0 ? begin + rows : OPEN;
  if (rows === 0) slice.fill(0, CALL.weights, CALL.weights + 5);
}
