// What a softmax does to one row of scores: shares, their entropy, and how far they can still be moved.

export interface Softened {
  readonly shares: readonly number[];
  readonly most: number;
  /** Of e^(score - most). */
  readonly sum: number;
  /** In nats. */
  readonly entropy: number;
  /** The Frobenius norm of the Jacobian, d share / d score. */
  readonly slope: number;
}

export function soften(scores: readonly number[]): Softened {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  const shares = powers.map((power) => power / sum);
  const entropy = -shares.reduce((total, share) => total + (share > 0 ? share * Math.log(share) : 0), 0);
  let squares = 0;
  for (let i = 0; i < shares.length; i++) {
    for (let j = 0; j < shares.length; j++) squares += jacobian(shares, i, j) ** 2;
  }
  return { shares, most, sum, entropy, slope: Math.sqrt(squares) };
}

/** How share i moves when score j does. */
export function jacobian(shares: readonly number[], i: number, j: number): number {
  const [a, b] = [shares[i] ?? 0, shares[j] ?? 0];
  return i === j ? a * (1 - a) : -a * b;
}
