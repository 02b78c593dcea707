/** The places of the largest weights, so many, from the largest on. */
export function strongestOf(weights: ArrayLike<number>, count: number): readonly number[] {
  const best: number[] = [];
  for (let key = 0; key < weights.length; key++) {
    const weight = weights[key] ?? 0;
    if (weight <= 0 || (best.length === count && weight <= (weights[best.at(-1) ?? 0] ?? 0))) continue;
    const place = best.findIndex((other) => weight > (weights[other] ?? 0));
    best.splice(place < 0 ? best.length : place, 0, key);
    best.length = Math.min(best.length, count);
  }
  return best;
}
