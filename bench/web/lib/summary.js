// Reduces samples to one number: the median, or the best where other load keeps interrupting.

/** @typedef {"median" | "best"} Summary */

/** @param {readonly number[]} samples @param {Summary} summary @param {boolean} moreIsBetter */
export function summarise(samples, summary, moreIsBetter) {
  if (summary === "median") return median(samples);
  return moreIsBetter ? Math.max(...samples) : Math.min(...samples);
}

/** @param {readonly number[]} samples */
export function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = low] =
    sorted.length % 2 === 1 ? [sorted[middle]] : sorted.slice(middle - 1, middle + 1);
  return (low + high) / 2;
}
