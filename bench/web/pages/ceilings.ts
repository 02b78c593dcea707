// What passes between the page of a ceiling and its workers.

export type Loop = "tile" | "chain" | "read";

/** Run the loop this often; a read reads this many numbers each time. */
export interface Order {
  readonly loop: Loop;
  readonly repeats: number;
  readonly numbers: number;
}

/** Work done, and when, on the clock that pages and workers share. */
export interface Report {
  readonly work: number;
  readonly start: number;
  readonly end: number;
}
