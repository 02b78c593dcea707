// A packed call cut into slices: some batch entries, key/value heads with the query heads that read them, and queries. Each is a
// call of its own, whose results have the bits of the whole: C++ is told of what it is a slice (SliceOf in heed/attention.hpp).

import { ATTENTION_CALL } from "./generated/attention-call.js";
import type { Job } from "./job.js";

/** From `begin` up to `end`, which is not of it. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

export interface Slice {
  readonly batch: Range;
  /** Key and value heads. */
  readonly groups: Range;
  readonly queries: Range;
}

/** Words of a packed view, from its own on: its address, then four sizes and four strides. */
const SHAPE = 1;
const STRIDES = 5;

const OPEN = -1;

/** Inputs that are views. Those of a score function, what blocks are kept, and the other numbers of a call, are the whole's in every slice. */
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

/** Fewer queries would not fill the kernels' panels, and read keys and values for too few: so few are a slice only where each is long at work. */
const LEAST_QUERIES = 16;

/** How finely a call is cut: in multiplications, a slice has at least `least`, and at most about `most` where that is to be had. */
export interface Grain {
  readonly least: number;
  readonly most: number;
  /** Slices that are wanted however small the call, as long as they have `least`. */
  readonly count: number;
  /** No more than so many, however large. */
  readonly upTo: number;
}

/** Of a call of another operation than attention there is one slice, the whole. */
export function slicesOf({ operation, call }: Job, multiplications: number, grain: Grain): readonly Slice[] {
  return operation === "attention" ? cutCall(call, multiplications, grain) : [wholeOf(1, 1, 1)];
}

/** Slices that together are the call, in the order in which they should be started. One where it is not worth cutting. */
export function cutCall(
  call: Int32Array,
  multiplications: number,
  { least, most, count, upTo }: Grain,
): readonly Slice[] {
  const [batch, heads, queries] = shapeAt(call, ATTENTION_CALL.query);
  const [, groups, keys] = shapeAt(call, ATTENTION_CALL.key);
  const wanted = Math.min(upTo, multiplications / least, Math.max(count, multiplications / most));
  if (!(wanted >= 2)) return [wholeOf(batch, groups, queries)];

  const batches = runs(batch, wanted);
  const rest = wanted / batches.length;
  const ofQuery = multiplications / (batch * heads * queries);
  // Each slice turns its keys anew.
  const ofKeys = keys * size(call, ATTENTION_CALL.scoreWk, 2) * size(call, ATTENTION_CALL.scoreWk, 3);
  const enough = Math.ceil(Math.max(most, ofKeys) / ofQuery);
  const step = queries < LEAST_QUERIES ? queries : Math.min(enough, LEAST_QUERIES);
  // The mean of the weights is over all heads: who computes it needs them all.
  const mostHeads = isPresent(call, ATTENTION_CALL.meanWeights) ? 1 : groups;
  const [groupRuns, queryRuns] = headsLieTogether(call)
    ? both(
        rest,
        (n) => runs(groups, Math.min(n, mostHeads)),
        (n) => runs(queries, n, step),
      )
    : both(
        rest,
        (n) => runs(queries, n, step),
        (n) => runs(groups, Math.min(n, mostHeads)),
      ).reverse();
  // Later queries first: where a mask is causal they have more keys.
  return batches.flatMap((entries) =>
    (groupRuns ?? []).flatMap((some) =>
      (queryRuns ?? []).map((rows) => ({ batch: entries, groups: some, queries: rows })).reverse(),
    ),
  );
}

/** Cuts one axis, and the other as far as the first did not do. */
function both(wanted: number, first: (pieces: number) => Range[], second: (pieces: number) => Range[]): Range[][] {
  const cut = first(wanted);
  return [cut, second(wanted / cut.length)];
}

function wholeOf(batch: number, groups: number, queries: number): Slice {
  return { batch: { begin: 0, end: batch }, groups: { begin: 0, end: groups }, queries: { begin: 0, end: queries } };
}

/** `count` things in at most about `pieces` runs of nearly one length, a multiple of `step` but for the last. */
function runs(count: number, pieces: number, step = 1): Range[] {
  const length = Math.ceil(count / Math.max(1, Math.min(Math.ceil(pieces), count / step)) / step) * step;
  const made: Range[] = [];
  for (let begin = 0; begin < count; begin += length) made.push({ begin, end: Math.min(count, begin + length) });
  return made;
}

/** Whether the numbers of a head are not in between those of others, so that some heads are a run of memory. */
function headsLieTogether(call: Int32Array): boolean {
  return stride(call, ATTENTION_CALL.key, 1) >= stride(call, ATTENTION_CALL.key, 2);
}

/**
 * The slice as a call. Its views start at their own first numbers: an address in the whole that is 0 becomes the bytes from there.
 * Results that it has nothing of are absent.
 */
export function sliceCall(whole: Int32Array, { batch, groups, queries }: Slice): Int32Array<ArrayBuffer> {
  const call = Int32Array.from(whole);
  const perGroup = size(whole, ATTENTION_CALL.query, 1) / size(whole, ATTENTION_CALL.key, 1);
  const heads = { begin: groups.begin * perGroup, end: groups.end * perGroup };
  const narrow = (word: number, ...ranges: readonly (Range | null)[]): void => {
    if (!isPresent(whole, word)) return;
    let first = 0;
    for (const [axis, range] of ranges.entries()) {
      // What has one number for all of an axis is for all slices.
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

/** Of a page of keys and values, the bytes of the heads of a slice: where they begin, and how many they are. */
export function pageSpan(call: Int32Array, { groups }: Slice): readonly [from: number, bytes: number] {
  const ofHead = stride(call, ATTENTION_CALL.key, 1) * elementBytes(call, ATTENTION_CALL.key);
  return [groups.begin * ofHead, (groups.end - groups.begin) * ofHead];
}

/** The queries whose weights are wanted. */
function weightRows(call: Int32Array): Range {
  const end = call[ATTENTION_CALL.weightRowsEnd] ?? OPEN;
  if (end === OPEN) return { begin: 0, end: size(call, ATTENTION_CALL.query, 2) };
  return { begin: call[ATTENTION_CALL.weightRowsBegin] ?? 0, end };
}

/** An absent view has no sizes, and nothing is cut that is empty. */
export function isPresent(call: Int32Array, word: number): boolean {
  return size(call, word, 0) > 0;
}

/** Elements of a view that are not another's by a stride of 0. */
export function elementsOf(call: Int32Array, word: number): number {
  return [0, 1, 2, 3].reduce(
    (total, axis) => (stride(call, word, axis) === 0 ? total : total * size(call, word, axis)),
    1,
  );
}

/** Bytes from the first number of a view to the end of its last. */
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

/** Has a view lie densely at an address, in the order of its axes. Returns its bytes. */
export function placeDensely(call: Int32Array, word: number, address: number): number {
  call[word] = address;
  let elements = 1;
  for (const axis of [3, 2, 1, 0]) {
    call[word + STRIDES + axis] = elements;
    elements *= size(call, word, axis);
  }
  return elements * elementBytes(call, word);
}

/** Copies the dense numbers of a slice's result to their places in the whole's, which starts at address 0 of its call. */
export function scatter(
  slice: Int32Array,
  whole: Int32Array,
  word: number,
  from: Float32Array,
  to: Float32Array,
): void {
  const [batch, heads, rows, columns] = shapeAt(slice, word);
  const start = (slice[word] ?? 0) / Float32Array.BYTES_PER_ELEMENT;
  // Rows that follow each other in the whole as well are copied together.
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
