// The messages between the page of a peak loop and its workers.

export type Loop = "tile" | "chain" | "int8" | "int4" | "read";

/** Asks a worker to repeat the loop. `read` reads `numbers` numbers each time. */
export interface Order {
  readonly loop: Loop;
  readonly repeats: number;
  readonly numbers: number;
}

/** The work that was done, and when, by the clock that pages and workers share. */
export interface Report {
  readonly work: number;
  readonly start: number;
  readonly end: number;
}
