// What a softmax does to one row of scores: weights, their entropy, and how far they can still be moved.

import { fill } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";

export interface Softened {
  readonly weights: readonly number[];
  /** In nats. */
  readonly entropy: number;
  /** The Frobenius norm of the Jacobian, d weight / d score. */
  readonly slope: number;
}

export function soften(scores: readonly number[]): Softened {
  const weights = Array.from(softmax(fill(1, scores.length, (_, col) => scores[col] ?? 0)).data);
  const entropy = -weights.reduce((total, weight) => total + (weight > 0 ? weight * Math.log(weight) : 0), 0);
  let squares = 0;
  for (let i = 0; i < weights.length; i++) {
    for (let j = 0; j < weights.length; j++) squares += jacobian(weights, i, j) ** 2;
  }
  return { weights, entropy, slope: Math.sqrt(squares) };
}

/** How weight i moves when score j does. */
export function jacobian(weights: readonly number[], i: number, j: number): number {
  const [a, b] = [weights[i] ?? 0, weights[j] ?? 0];
  return i === j ? a * (1 - a) : -a * b;
}
