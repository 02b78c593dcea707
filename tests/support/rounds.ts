// How many cases chance makes: some in each run, and as many as HEED_FUZZ says in a long one.

const LONG = globalThis.process?.env?.["HEED_FUZZ"];

/** `share`: of the long run, for cases that take long. */
export const roundsOf = (short: number, share = 1): number =>
  LONG === undefined ? short : Math.ceil(Number(LONG) * share);

/** Milliseconds that so many cases may take on a machine with other things to do. */
export const timeFor = (rounds: number, each: number): number => 60_000 + rounds * each;
