// How attention is cut: by batch entries, by KV heads with the query heads that read them, and by queries. A slice gives the bits of
// the whole call, because C++ is told what it is a slice of (SliceOf in heed/attention.hpp).

import type { Cut, CutAxis, NarrowedView } from "../cut.js";
import { ATTENTION_CALL as CALL } from "./generated/attention-call.js";
import { isPresent, SHAPE, STRIDES, shapeAt, size, stride } from "./packed-views.js";

const OPEN = -1;

/** Fewer queries would not fill a panel of the kernels and would reuse K and V too little. A slice has fewer only where one query is much work. */
const MIN_QUERIES = 16;

/** Views by query head and query. */
const QUERY_VIEWS = [CALL.query, CALL.mask, CALL.bias, CALL.output, CALL.lse, CALL.scores, CALL.entropy];

/** A slice reads the parameters of the score function, the block mask and all other numbers whole. `most` is the grain's. */
export function attentionCut(call: Int32Array, multiplications: number, most: number): Cut {
  const [batch, heads, queries] = shapeAt(call, CALL.query);
  const [, groups, keys] = shapeAt(call, CALL.key);
  const perGroup = heads / groups;
  const perQuery = multiplications / (batch * heads * queries);
  // Additive scores project the keys, and each slice does so again.
  const keyProjection = keys * size(call, CALL.scoreWk, 2) * size(call, CALL.scoreWk, 3);
  const enough = Math.ceil(Math.max(most, keyProjection) / perQuery);
  // A size of 1 broadcasts over the axis.
  const narrowed = (axis: number, per: number, words: readonly number[]): NarrowedView[] =>
    words.filter((word) => size(call, word, axis) > 1).map((word) => [word, axis, per]);

  const byBatch: CutAxis = {
    count: batch,
    views: narrowed(0, 1, [...QUERY_VIEWS, CALL.key, CALL.value, CALL.weights, CALL.meanWeights]),
    starts: [
      [CALL.sliceOf, 1],
      [CALL.pages, (call[CALL.pagesPerBatch] ?? 0) * Int32Array.BYTES_PER_ELEMENT],
    ],
  };
  const byHead: CutAxis = {
    count: groups,
    views: [...narrowed(1, perGroup, [...QUERY_VIEWS, CALL.weights]), ...narrowed(1, 1, [CALL.key, CALL.value])],
    starts: [[CALL.sliceOf + 1, perGroup]],
  };
  const byQuery: CutAxis = {
    count: queries,
    step: queries < MIN_QUERIES ? queries : Math.min(enough, MIN_QUERIES),
    views: [
      ...narrowed(2, 1, [...QUERY_VIEWS, CALL.meanWeights]),
      [CALL.weights, 2, 1, call[CALL.weightRowsBegin] ?? 0],
    ],
    starts: [[CALL.sliceOf + 2, 1]],
    shares: true,
    // Under a causal mask later queries see more keys, and the longest tasks should start first.
    fromEnd: true,
  };
  // The mean of the weights is over all heads, so one slice must have all of them.
  if (isPresent(call, CALL.meanWeights)) return { axes: [byBatch, byQuery], finish };
  // Where each head of K is contiguous in memory, a range of heads is as well.
  const byHeadFirst = stride(call, CALL.key, 1) >= stride(call, CALL.key, 2);
  return { axes: byHeadFirst ? [byBatch, byHead, byQuery] : [byBatch, byQuery, byHead], finish };
}

/** Says what the call is a slice of, and counts the rows of weights from its first query. One without any has no weights. */
function finish(call: Int32Array, whole: Int32Array): void {
  call.set(whole.subarray(CALL.query + SHAPE, CALL.query + SHAPE + 3), CALL.sliceOf + 3);
  if (whole[CALL.weightRowsEnd] === OPEN) return;
  const rows = size(call, CALL.weights, 2);
  const begin = Math.max(0, (whole[CALL.weightRowsBegin] ?? 0) - (call[CALL.sliceOf + 2] ?? 0));
  call[CALL.weightRowsBegin] = begin;
  call[CALL.weightRowsEnd] = rows > 0 ? begin + rows : OPEN;
  if (rows === 0) call.fill(0, CALL.weights, CALL.weights + STRIDES);
}
