// The layout of int8 numbers in a page: tiles, which kernels read in the order of memory. The int16 dot product takes pairs of numbers in 16
// columns. So a tile of K is 16 rows whose numbers come two at a time, and a tile of V is 16 numbers of 32 rows, two rows at a time.

/** Bytes from one index to the next: `near` within a group, whose size is a power of two, and `far` from group to group. */
type Steps = readonly [group: number, near: number, far: number];

export interface Tiles {
  /** How many rows share a tile. */
  readonly rows: number;
  /** From row to row in a tile. */
  readonly row: Steps;
  /** From number to number in a row, which is padded to whole groups. */
  readonly number: Steps;
}

/** Bytes from index 0 to `index`. */
export function stepTo([group, near, far]: Steps, index: number): number {
  const within = index & (group - 1);
  return ((index - within) / group) * far + within * near;
}

export function roundUp(count: number, step: number): number {
  return Math.ceil(count / step) * step;
}
