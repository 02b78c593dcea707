// Draws a token at random: the options select candidates among the logits, and one is drawn by its probability.

import { indicesOfLargest, logSumExp } from "./best.js";
import type { ReadSampling } from "./options.js";
import type { SeededRandom } from "./random.js";

/** A token and its probability; those of all candidates add up to 1. */
interface Candidate {
  readonly id: number;
  readonly probability: number;
}

/** The next token, or undefined where every logit is -Infinity. */
export function draw(
  logits: Float32Array,
  seen: ReadonlySet<number>,
  options: ReadSampling,
  random: SeededRandom,
): number | undefined {
  const candidates = candidatesOf(logits, seen, options);
  let rest = random.next();
  for (const { id, probability } of candidates) {
    rest -= probability;
    if (rest < 0) return id;
  }
  // Rounding may leave a small rest, which belongs to the last candidate.
  return candidates.at(-1)?.id;
}

/** The tokens that may be drawn. */
export function candidatesOf(logits: Float32Array, seen: ReadonlySet<number>, options: ReadSampling): Candidate[] {
  const { temperature, topK, topP, minP, repetitionPenalty } = options;
  const scores = withPenalty(logits, seen, repetitionPenalty);
  if (temperature === 0) return indicesOfLargest(scores, 1).map((id) => ({ id, probability: 1 }));
  const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  if (largest === -Infinity) return [];
  // The largest is subtracted first, so that no temperature overflows.
  for (let id = 0; id < scores.length; id++) scores[id] = ((scores[id] ?? -Infinity) - largest) / temperature;
  const best =
    topK < scores.length ? byProbability(scores, indicesOfLargest(scores, topK)) : worthSorting(scores, topP);
  let reached = 0;
  const nucleus = best.filter(({ probability }) => {
    const isIn = reached < topP || topP === 1;
    reached += probability;
    return isIn;
  });
  const least = minP * nucleus.reduce((most, { probability }) => Math.max(most, probability), 0);
  const kept = nucleus.filter(({ probability }) => probability >= least);
  const total = kept.reduce((sum, { probability }) => sum + probability, 0);
  return kept.map(({ id, probability }) => ({ id, probability: probability / total }));
}

function withPenalty(logits: Float32Array, seen: ReadonlySet<number>, penalty: number): Float64Array {
  const scores = Float64Array.from(logits);
  for (const id of penalty === 1 ? [] : seen) {
    const logit = scores[id];
    if (logit !== undefined) scores[id] = logit > 0 ? Math.min(logit / penalty, Number.MAX_VALUE) : logit * penalty;
  }
  return scores;
}

/** Candidates of `ids`, which are in order of their scores. */
function byProbability(scores: Float64Array, ids: readonly number[]): Candidate[] {
  const total = logSumExp(ids.map((id) => scores[id] ?? -Infinity));
  return ids.map((id) => ({ id, probability: Math.exp((scores[id] ?? -Infinity) - total) }));
}

/** All tokens in order of probability, without those that no nucleus needs: tokens below (1 - topP) / n together stay below 1 - topP. */
function worthSorting(scores: Float64Array, topP: number): Candidate[] {
  const total = logSumExp(scores);
  const least = (1 - topP) / scores.length;
  const candidates: Candidate[] = [];
  for (const [id, score] of scores.entries()) {
    const probability = Math.exp(score - total);
    if (score > -Infinity && probability >= least) candidates.push({ id, probability });
  }
  return topP === 1 ? candidates : candidates.sort((a, b) => b.probability - a.probability || a.id - b.id);
}
