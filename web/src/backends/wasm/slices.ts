// Cuts a packed call into slices: ranges of batch entries, of KV heads with the query heads that read them, and of queries. Each
// slice is a call of its own and gives the bits of the whole call, because C++ is told what it is a slice of (SliceOf in
// heed/attention.hpp).

import { ATTENTION_CALL } from "./generated/attention-call.js";
import type { Job } from "./job.js";

/** From `begin` up to `end`, exclusive. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

export interface Slice {
  readonly batch: Range;
  /** KV heads. */
  readonly groups: Range;
  readonly queries: Range;
}

/** Word offsets in a packed view, which is an address, four sizes and four strides. */
const SHAPE = 1;
const STRIDES = 5;

const OPEN = -1;

/** The inputs that are views. A slice reads the parameters of the score function, the block mask and all other numbers whole. */
export const INPUT_VIEWS = [
  ATTENTION_CALL.query,
  ATTENTION_CALL.key,
  ATTENTION_CALL.value,
  ATTENTION_CALL.mask,
  ATTENTION_CALL.bias,
  ATTENTION_CALL.keep,
  ATTENTION_CALL.scoreW,
  ATTENTION_CALL.scoreWq,
  ATTENTION_CALL.scoreWk,
  ATTENTION_CALL.scoreB,
  ATTENTION_CALL.scoreV,
  ATTENTION_CALL.scoreBandwidth,
] as const;

/** Fewer queries would not fill a panel of the kernels and would reuse K and V too little. A slice has fewer only where one query is much work. */
const MIN_QUERIES = 16;

/** How finely a call is cut. A slice has at least `least` multiplications, and about `most` at most where the axes allow it. */
export interface Grain {
  readonly least: number;
  readonly most: number;
  /** The number of slices to reach even in a small call, as long as each has `least`. */
  readonly count: number;
  /** The greatest number of slices, however large the call. */
  readonly upTo: number;
}

/** Only attention is cut; a call of any other operation is one slice. */
export function slicesOf({ operation, call }: Job, multiplications: number, grain: Grain): readonly Slice[] {
  return operation === "attention" ? cutCall(call, multiplications, grain) : [wholeOf(1, 1, 1)];
}

/** The slices of a call in the order in which they should start; a single one where cutting is not worth it. */
export function cutCall(
  call: Int32Array,
  multiplications: number,
  { least, most, count, upTo }: Grain,
): readonly Slice[] {
  const [batch, heads, queries] = shapeAt(call, ATTENTION_CALL.query);
  const [, groups, keys] = shapeAt(call, ATTENTION_CALL.key);
  const wanted = Math.min(upTo, multiplications / least, Math.max(count, multiplications / most));
  if (!(wanted >= 2)) return [wholeOf(batch, groups, queries)];

  const batches = ranges(batch, wanted);
  const rest = wanted / batches.length;
  const perQuery = multiplications / (batch * heads * queries);
  // Additive scores project the keys, and each slice does so again.
  const keyProjection = keys * size(call, ATTENTION_CALL.scoreWk, 2) * size(call, ATTENTION_CALL.scoreWk, 3);
  const enough = Math.ceil(Math.max(most, keyProjection) / perQuery);
  const step = queries < MIN_QUERIES ? queries : Math.min(enough, MIN_QUERIES);
  // The mean of the weights is over all heads, so one slice must have all of them.
  const maxHeadRanges = isPresent(call, ATTENTION_CALL.meanWeights) ? 1 : groups;
  const [groupRanges, queryRanges] = headsAreContiguous(call)
    ? cutBoth(
        rest,
        (n) => ranges(groups, Math.min(n, maxHeadRanges)),
        (n) => ranges(queries, n, step),
      )
    : cutBoth(
        rest,
        (n) => ranges(queries, n, step),
        (n) => ranges(groups, Math.min(n, maxHeadRanges)),
      ).reverse();
  // Later queries come first: under a causal mask they see more keys, and the longest tasks should start first.
  return batches.flatMap((entries) =>
    (groupRanges ?? []).flatMap((some) =>
      (queryRanges ?? []).map((rows) => ({ batch: entries, groups: some, queries: rows })).reverse(),
    ),
  );
}

/** Cuts the first axis, and the second only as far as the first gave too few ranges. */
function cutBoth(wanted: number, first: (parts: number) => Range[], second: (parts: number) => Range[]): Range[][] {
  const cut = first(wanted);
  return [cut, second(wanted / cut.length)];
}

function wholeOf(batch: number, groups: number, queries: number): Slice {
  return { batch: { begin: 0, end: batch }, groups: { begin: 0, end: groups }, queries: { begin: 0, end: queries } };
}

/** Cuts [0, count) into about `parts` ranges of one length, a multiple of `step`; the last may be shorter. */
function ranges(count: number, parts: number, step = 1): Range[] {
  const length = Math.ceil(count / Math.max(1, Math.min(Math.ceil(parts), count / step)) / step) * step;
  const made: Range[] = [];
  for (let begin = 0; begin < count; begin += length) made.push({ begin, end: Math.min(count, begin + length) });
  return made;
}

/** Whether each head of K is contiguous in memory, so that a range of heads is as well. */
function headsAreContiguous(call: Int32Array): boolean {
  return stride(call, ATTENTION_CALL.key, 1) >= stride(call, ATTENTION_CALL.key, 2);
}

/**
 * The slice as a call. Each view starts at the slice's first number: an address of 0 in the whole call becomes a byte offset.
 * Results to which the slice contributes nothing are absent.
 */
export function sliceCall(whole: Int32Array, { batch, groups, queries }: Slice): Int32Array<ArrayBuffer> {
  const call = Int32Array.from(whole);
  const perGroup = size(whole, ATTENTION_CALL.query, 1) / size(whole, ATTENTION_CALL.key, 1);
  const heads = { begin: groups.begin * perGroup, end: groups.end * perGroup };
  const narrow = (word: number, ...ranges: readonly (Range | null)[]): void => {
    if (!isPresent(whole, word)) return;
    let first = 0;
    for (const [axis, range] of ranges.entries()) {
      // A size of 1 broadcasts over the axis.
      if (range === null || size(whole, word, axis) === 1) continue;
      first += range.begin * stride(whole, word, axis);
      call[word + SHAPE + axis] = range.end - range.begin;
    }
    call[word] = (whole[word] ?? 0) + first * elementBytes(whole, word);
  };
  for (const word of [ATTENTION_CALL.query, ATTENTION_CALL.mask, ATTENTION_CALL.bias]) {
    narrow(word, batch, heads, queries);
  }
  for (const word of [ATTENTION_CALL.key, ATTENTION_CALL.value]) narrow(word, batch, groups);
  call[ATTENTION_CALL.pages] =
    (whole[ATTENTION_CALL.pages] ?? 0) +
    batch.begin * (whole[ATTENTION_CALL.pagesPerBatch] ?? 0) * Int32Array.BYTES_PER_ELEMENT;
  const { output, lse, scores, entropy } = ATTENTION_CALL;
  for (const word of [output, lse, scores, entropy]) narrow(word, batch, heads, queries);
  narrow(ATTENTION_CALL.meanWeights, batch, null, queries);

  const rows = weightRows(whole);
  const from = Math.max(rows.begin, queries.begin);
  const to = Math.min(rows.end, queries.end);
  if (from < to) {
    narrow(ATTENTION_CALL.weights, batch, heads, { begin: from - rows.begin, end: to - rows.begin });
    call[ATTENTION_CALL.weightRowsBegin] = from - queries.begin;
    call[ATTENTION_CALL.weightRowsEnd] = to - queries.begin;
  } else {
    call.fill(0, ATTENTION_CALL.weights, ATTENTION_CALL.weights + STRIDES);
    call[ATTENTION_CALL.weightRowsEnd] = OPEN;
  }
  const [wholeBatch, wholeHeads, wholeQueries] = shapeAt(whole, ATTENTION_CALL.query);
  call.set([batch.begin, heads.begin, queries.begin, wholeBatch, wholeHeads, wholeQueries], ATTENTION_CALL.sliceOf);
  return call;
}

/** The byte range that the heads of a slice have in each KV page. */
export function pageSpan(call: Int32Array, { groups }: Slice): readonly [from: number, bytes: number] {
  const ofHead = stride(call, ATTENTION_CALL.key, 1) * elementBytes(call, ATTENTION_CALL.key);
  return [groups.begin * ofHead, (groups.end - groups.begin) * ofHead];
}

/** The queries whose weights are returned. */
function weightRows(call: Int32Array): Range {
  const end = call[ATTENTION_CALL.weightRowsEnd] ?? OPEN;
  if (end === OPEN) return { begin: 0, end: size(call, ATTENTION_CALL.query, 2) };
  return { begin: call[ATTENTION_CALL.weightRowsBegin] ?? 0, end };
}

/** An absent view has sizes of 0. Empty calls are never cut, so no other view has. */
export function isPresent(call: Int32Array, word: number): boolean {
  return size(call, word, 0) > 0;
}

/** Distinct elements of a view; axes of stride 0 repeat them. */
export function elementsOf(call: Int32Array, word: number): number {
  return [0, 1, 2, 3].reduce(
    (total, axis) => (stride(call, word, axis) === 0 ? total : total * size(call, word, axis)),
    1,
  );
}

/** Bytes from the start of a view's first number to the end of its last. */
export function spanOf(call: Int32Array, word: number): number {
  const last = [0, 1, 2, 3].reduce((sum, axis) => sum + (size(call, word, axis) - 1) * stride(call, word, axis), 0);
  return (last + 1) * elementBytes(call, word);
}

export function elementBytes(call: Int32Array, word: number): number {
  if (word === ATTENTION_CALL.mask || word === ATTENTION_CALL.keep) return Uint8Array.BYTES_PER_ELEMENT;
  const types: Readonly<Record<number, number>> = {
    [ATTENTION_CALL.query]: ATTENTION_CALL.queryType,
    [ATTENTION_CALL.key]: ATTENTION_CALL.keyType,
    [ATTENTION_CALL.value]: ATTENTION_CALL.valueType,
  };
  const type = types[word];
  return Float32Array.BYTES_PER_ELEMENT >> (type === undefined ? 0 : (call[type] ?? 0));
}

/** Moves a view to an address and makes it dense, in the order of its axes. Returns its size in bytes. */
export function makeDense(call: Int32Array, word: number, address: number): number {
  call[word] = address;
  let elements = 1;
  for (const axis of [3, 2, 1, 0]) {
    call[word + STRIDES + axis] = elements;
    elements *= size(call, word, axis);
  }
  return elements * elementBytes(call, word);
}

/** Copies a slice's dense result into the result of the whole call, whose view starts at address 0. */
export function scatter(
  slice: Int32Array,
  whole: Int32Array,
  word: number,
  from: Float32Array,
  to: Float32Array,
): void {
  const [batch, heads, rows, columns] = shapeAt(slice, word);
  const start = (slice[word] ?? 0) / Float32Array.BYTES_PER_ELEMENT;
  // Rows that are adjacent in the whole result too are copied together.
  const together = stride(whole, word, 2) === columns ? rows : 1;
  const length = together * columns;
  let taken = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      const head = start + b * stride(whole, word, 0) + h * stride(whole, word, 1);
      for (let row = 0; row < rows; row += together, taken += length) {
        to.set(from.subarray(taken, taken + length), head + row * stride(whole, word, 2));
      }
    }
  }
}

function shapeAt(call: Int32Array, word: number): readonly [number, number, number, number] {
  return [size(call, word, 0), size(call, word, 1), size(call, word, 2), size(call, word, 3)];
}

function size(call: Int32Array, word: number, axis: number): number {
  return call[word + SHAPE + axis] ?? 0;
}

function stride(call: Int32Array, word: number, axis: number): number {
  return call[word + STRIDES + axis] ?? 0;
}
