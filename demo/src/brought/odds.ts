// What changes in a model's answer when something inside is switched off: odds, and vectors.

import { strongestOf } from "../model/strongest.js";

/** Chances, by the softmax of the logits. */
export function chances(logits: Float32Array): Float64Array {
  const most = logits.reduce((largest, logit) => Math.max(largest, logit), Number.NEGATIVE_INFINITY);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

export interface Change {
  readonly id: number;
  readonly before: number;
  readonly after: number;
}

/** Those that were likeliest or are, by what they were. */
export function changes(before: Float64Array, after: Float64Array, count: number): readonly Change[] {
  const ids = new Set([...strongestOf(before, count), ...strongestOf(after, count)]);
  return [...ids]
    .map((id) => ({ id, before: before[id] ?? 0, after: after[id] ?? 0 }))
    .sort((a, b) => b.before - a.before);
}

/** Kullback and Leibler's divergence of what is from what was, in nats. */
export function divergence(before: Float64Array, after: Float64Array): number {
  return before.reduce((sum, p, at) => (p > 0 ? sum + p * Math.log(p / (after[at] ?? 0)) : sum), 0);
}

/** How far vectors, row by row, are from what they were, as a part of their length. */
export function movements(before: Float32Array, after: Float32Array, width: number): readonly number[] {
  return Array.from({ length: before.length / width }, (_, row) => {
    let [moved, length] = [0, 0];
    for (let at = row * width; at < (row + 1) * width; at++) {
      const was = before[at] ?? 0;
      moved += ((after[at] ?? 0) - was) ** 2;
      length += was ** 2;
    }
    return Math.sqrt(moved / length);
  });
}

/** The cosine between the means of vectors, as they were and as they are. */
export function cosineOfMeans(before: Float32Array, after: Float32Array, width: number): number {
  const meanOf = (rows: Float32Array) => {
    const mean = new Float64Array(width);
    rows.forEach((value, at) => {
      mean[at % width] = (mean[at % width] ?? 0) + value;
    });
    return mean;
  };
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  const [was, is] = [meanOf(before), meanOf(after)];
  return dot(was, is) / Math.sqrt(dot(was, was) * dot(is, is));
}
