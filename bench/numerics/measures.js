// How far results are from double precision, as one number each.

/** @typedef {{ readonly data: ArrayLike<number>, readonly shape: readonly number[] }} Numbers */

/** @param {ArrayLike<number>} numbers */
export const largest = (numbers) => Array.from(numbers).reduce((most, one) => Math.max(most, Math.abs(one)), 0);

/** The largest difference; NaN counts as infinite. @param {ArrayLike<number>} got @param {ArrayLike<number>} exact */
export function worst(got, exact) {
  let most = got.length === exact.length ? 0 : Number.POSITIVE_INFINITY;
  for (let at = 0; at < exact.length; at++) {
    const away = Math.abs((got[at] ?? Number.NaN) - (exact[at] ?? Number.NaN));
    most = away >= 0 ? Math.max(most, away) : Number.POSITIVE_INFINITY;
  }
  return most;
}

/** The same, as a share of the largest exact number. @param {ArrayLike<number>} got @param {ArrayLike<number>} exact */
export const worstShare = (got, exact) => worst(got, exact) / largest(exact);

/** Root of the mean square, as a share of that of the exact numbers. @param {ArrayLike<number>} got @param {ArrayLike<number>} exact */
export function meanShare(got, exact) {
  const norm = (/** @type {(at: number) => number} */ of) =>
    Math.sqrt(Array.from(exact).reduce((sum, _, at) => sum + of(at) ** 2, 0));
  return norm((at) => (got[at] ?? Number.NaN) - (exact[at] ?? Number.NaN)) / norm((at) => exact[at] ?? Number.NaN);
}
