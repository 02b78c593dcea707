// Normalizers by their formulae. They turn the scores of a row, with -Infinity where masked, into weights.

/** What makes weights of a row of scores. */
export type ReferenceNormalizer = "softmax" | "sparsemax" | "sigmoid" | "hard" | "none";

export interface Normalized {
  readonly probabilities: Float64Array;
  /** The logarithm of the softmax's denominator. */
  readonly logSum: number;
  /** Which keys are neither masked nor left out by topK. */
  readonly isSeen: readonly boolean[];
}

export function normalize(
  given: readonly number[],
  options: { readonly normalize?: ReferenceNormalizer | undefined; readonly topK?: number | undefined },
  sink: number,
): Normalized {
  const { normalize: kind = "softmax", topK = given.length } = options;
  const scores = best(given, kind === "hard" ? 1 : topK);
  const isSeen = scores.map((score) => score !== -Infinity);
  const { probabilities, logSum } = softmax(scores, sink);
  if (kind === "softmax" || kind === "hard") return { probabilities, logSum, isSeen };
  const threshold = simplexThreshold(scores);
  const weightOf = {
    sparsemax: (score: number) => Math.max(score - threshold, 0),
    sigmoid: (score: number) => 1 / (1 + Math.exp(-score)),
    none: (score: number) => score,
  }[kind];
  const weights = Float64Array.from(scores, (score) => (score === -Infinity ? 0 : weightOf(score)));
  return { probabilities: weights, logSum, isSeen };
}

/** Keeps the `count` highest scores, the first of equals. The others become -Infinity. */
function best(scores: readonly number[], count: number): readonly number[] {
  if (count >= scores.length) return scores;
  const order = scores.map((_, j) => j).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const kept = new Set(order.slice(0, count));
  return scores.map((score, j) => (kept.has(j) || Number.isNaN(score) ? score : -Infinity));
}

/** The t by which max(score - t, 0) adds up to 1 (Martins and Astudillo 2016, algorithm 1). */
function simplexThreshold(scores: readonly number[]): number {
  const sorted = scores.filter((score) => score !== -Infinity).sort((a, b) => b - a);
  let sum = 0;
  let threshold = 0;
  for (const [n, score] of sorted.entries()) {
    sum += score;
    if (1 + (n + 1) * score <= sum) break;
    threshold = (sum - 1) / (n + 1);
  }
  return threshold;
}

/** p_j = exp(s_j) / (exp(sink) + sum exp(s)), and the logarithm of the denominator; a row of -Infinity gives zeros and -Infinity. */
function softmax(scores: readonly number[], sink: number): Omit<Normalized, "isSeen"> {
  const most = (best: number, score: number): number => (score > best || Number.isNaN(score) ? score : best);
  const highest = scores.reduce(most, -Infinity);
  if (highest === -Infinity) return { probabilities: new Float64Array(scores.length), logSum: -Infinity };
  const max = most(highest, sink);
  const exponentials = Float64Array.from(scores, (score) => Math.exp(score - max));
  const sum = exponentials.reduce((total, term) => total + term, Math.exp(sink - max));
  return { probabilities: exponentials.map((term) => term / sum), logSum: max + Math.log(sum) };
}
