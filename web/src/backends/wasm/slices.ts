// Cuts a packed call into slices along the axes that its operation names. Each slice is a call of its own.

import type { Cut, CutAxis } from "../cut.js";
import type { Job } from "./job.js";
import { elementBytes, SHAPE, size, stride, VIEW } from "./packed-views.js";

/** From `begin` up to `end`, exclusive. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** A range of each axis. */
export type Slice = readonly Range[];

/** How finely a call is cut. A slice has at least `least` multiplications, and about `most` at most where the axes allow it. */
export interface Grain {
  readonly least: number;
  readonly most: number;
  /** The number of slices to reach even in a small call, as long as each has `least`. */
  readonly count: number;
  /** The greatest number of slices, however large the call. */
  readonly upTo: number;
}

/** The slices of a call in the order in which they should start; a single one where cutting is not worth it. */
export function slicesOf(
  { axes }: Cut,
  multiplications: number,
  { least, most, count, upTo }: Grain,
): readonly Slice[] {
  let wanted = Math.min(upTo, multiplications / least, Math.max(count, multiplications / most));
  if (!(wanted >= 2)) wanted = 1;
  let slices: readonly Slice[] = [[]];
  for (const axis of axes) {
    const ranges = rangesOf(axis, wanted);
    wanted /= ranges.length;
    slices = slices.flatMap((slice) => ranges.map((range) => [...slice, range]));
  }
  return slices;
}

/** Cuts an axis into about `parts` ranges of one length; the last may differ. */
function rangesOf({ count, step = 1, least = 1, fromEnd }: CutAxis, parts: number): readonly Range[] {
  const length = Math.ceil(count / Math.min(Math.ceil(parts), count / step) / step) * step;
  const ranges: Range[] = [];
  let begin = 0;
  do {
    const end = count - begin - length < least ? count : begin + length;
    ranges.push({ begin, end });
    begin = end;
  } while (begin < count);
  return fromEnd ? ranges.reverse() : ranges;
}

/** The slice as a call. Each view starts at the slice's first number: an address of 0 in the whole call becomes a byte offset. */
export function sliceCall(job: Job, { axes, finish }: Cut, whole: Int32Array, slice: Slice): Int32Array<ArrayBuffer> {
  const call = Int32Array.from(whole);
  const add = (word: number, more: number): void => {
    call[word] = (call[word] ?? 0) + more;
  };
  let carried: CutAxis["carry"];
  for (const [index, { views, starts = [], count, fromEnd, carry }] of axes.entries()) {
    const { begin, end } = slice[index] ?? { begin: 0, end: count };
    for (const [word, axis, per, first = 0] of views) {
      if (size(whole, word, axis) === 1 && stride(whole, word, axis) === 0) continue;
      const within = (at: number): number => Math.max(0, Math.min(size(whole, word, axis), at * per - first));
      call[word + SHAPE + axis] = within(end) - within(begin);
      add(word, within(begin) * stride(whole, word, axis) * elementBytes(job, word));
    }
    for (const [word, per] of starts) add(word, begin * per);
    if (fromEnd ? end < count : begin > 0) carried ??= carry;
  }
  if (carried) call.copyWithin(carried.to, carried.from, carried.from + VIEW);
  finish?.(call, whole);
  return call;
}
