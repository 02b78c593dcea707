// What a softmax does to one row of scores: weights, their entropy, and how far they can still be moved.

import { fill } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";

export interface Softened {
  readonly shares: readonly number[];
  /** In nats. */
  readonly entropy: number;
  /** The Frobenius norm of the Jacobian, d weight / d score. */
  readonly slope: number;
}

export function soften(scores: readonly number[]): Softened {
  const shares = Array.from(softmax(fill(1, scores.length, (_, col) => scores[col] ?? 0)).data);
  const entropy = -shares.reduce((total, share) => total + (share > 0 ? share * Math.log(share) : 0), 0);
  let squares = 0;
  for (let i = 0; i < shares.length; i++) {
    for (let j = 0; j < shares.length; j++) squares += jacobian(shares, i, j) ** 2;
  }
  return { shares, entropy, slope: Math.sqrt(squares) };
}

/** How weight i moves when score j does. */
export function jacobian(shares: readonly number[], i: number, j: number): number {
  const [a, b] = [shares[i] ?? 0, shares[j] ?? 0];
  return i === j ? a * (1 - a) : -a * b;
}
