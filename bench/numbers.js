// Seeded numbers, medians, and the cases and rounds that a bench measures.

let state = 1;

/** From -1 to 1. */
export function random() {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return state / 2 ** 31;
}

/** @param {readonly number[]} samples */
export const median = (samples) => [...samples].sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;

/** With `--smoke` a bench measures the first of its cases once, to show that it works. */
const isSmoke = process.argv.includes("--smoke");

/** @template T @param {readonly T[]} all */
export const cases = (all) => (isSmoke ? all.slice(0, 1) : all);

/** @param {number} wanted */
export const rounds = (wanted) => (isSmoke ? 1 : wanted);
