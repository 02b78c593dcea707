// The same numbers in each run, and the middle of what it measures.

let state = 1;

/** From -1 to 1. */
export function random() {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return state / 2 ** 31;
}

/** @param {readonly number[]} samples */
export const median = (samples) => [...samples].sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
