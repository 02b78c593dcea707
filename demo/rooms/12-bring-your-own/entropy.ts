// How spread out a row of weights is.

/** In nats, of the weights as parts of their sum; 0 for a row of zeros. */
export function entropyOf(weights: ArrayLike<number>): number {
  let [sum, logs] = [0, 0];
  for (let key = 0; key < weights.length; key++) {
    const weight = weights[key] ?? 0;
    if (weight <= 0) continue;
    sum += weight;
    logs += weight * Math.log(weight);
  }
  return sum === 0 ? 0 : Math.log(sum) - logs / sum;
}
