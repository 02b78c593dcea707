// How numbers of eight bits lie in a page: in tiles, which kernels multiply in the order of memory. A tile is pairs of 16 columns: 16 rows of
// keys, whose numbers come two at a time; or 16 numbers of 32 rows of values, which come two rows at a time.

/** Bytes from one to the next: `near` within groups of so many, which are a power of two, and `far` from group to group. */
type Steps = readonly [group: number, near: number, far: number];

export interface Tiles {
  /** That the same tiles hold. */
  readonly rows: number;
  /** Of its rows. */
  readonly row: Steps;
  /** Of a row's numbers, which are filled up to whole groups. */
  readonly number: Steps;
}

const KEYS: Tiles = {
  rows: 16,
  row: [16, 2, 0],
  number: [2, 1, 32],
};

const VALUES: Tiles = {
  rows: 32,
  row: [2, 1, 32],
  number: [16, 2, 512],
};

export const TILES = { key: KEYS, value: VALUES } as const;

/** Bytes from the first to number `index`. */
export function stepTo([group, near, far]: Steps, index: number): number {
  const within = index & (group - 1);
  return ((index - within) / group) * far + within * near;
}

export function roundUp(count: number, step: number): number {
  return Math.ceil(count / step) * step;
}
