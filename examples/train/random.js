// Seeded random numbers, so that a recipe gives the same model every time.

/** @param {number} seed */
export function randomOf(seed) {
  let state = seed >>> 0;
  /** From 0 to below 1 (mulberry32). */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** A whole number from 0 to below `count`. @param {number} count */
    below: (count) => Math.floor(next() * count),
    /** @template T @param {readonly T[]} all @returns {T} */
    pick: (all) => all[Math.floor(next() * all.length)],
  };
}
