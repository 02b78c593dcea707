// How a call may be cut into slices, as data: the axes, and what a slice has of each operand. This file imports nothing.

/**
 * A view that is narrower in a slice than in the whole call. `word` is where the view stands in the packed call, `axis`
 * which of its four axes is narrowed. Each step along the axis that is cut is `per` steps along this one, of which the
 * view lacks the `first` (0 where absent). So a slice [begin, end) has [begin * per - first, end * per - first) of the
 * view, as far as the view goes; all of it where the view broadcasts over the axis, with a size of 1 and a stride of 0.
 */
export type NarrowedView = readonly [word: number, axis: number, per: number, first?: number];

/** An axis along which a call may be cut. */
export interface CutAxis {
  readonly count: number;
  /** A slice begins at a multiple of it; 1 where absent. */
  readonly step?: number;
  /** A slice of a longer axis has at least so many; 1 where absent. */
  readonly least?: number;
  /** What is not listed is whole in every slice. */
  readonly views: readonly NarrowedView[];
  /** Words that grow by so much for each before the slice: addresses of arrays, by bytes, and other positions. */
  readonly starts?: readonly (readonly [word: number, per: number])[];
  /** Of the table of residents behind the call, a slice reads so many entries for each that it has of this axis ... */
  readonly entries?: number;
  /** ... or so many bytes of every entry. */
  readonly entryBytes?: number;
  /** Slices that differ in nothing else read the same large operands, so one worker should compute them. */
  readonly shares?: boolean;
  /** The slice with the end of the axis comes first. */
  readonly fromEnd?: boolean;
  /** Each slice takes as input `to` what the one before it left in output `from`. */
  readonly carry?: { readonly from: number; readonly to: number };
}

/** The slices of a call give its bits together. */
export interface Cut {
  readonly axes: readonly CutAxis[];
  /**
   * Given where a call is memory-bound: how many times as long as its multiplications it takes. It is not worth sending
   * to another memory.
   */
  readonly memoryBound?: number;
  /** Completes the call of a slice. */
  readonly finish?: (slice: Int32Array, whole: Int32Array) => void;
}
