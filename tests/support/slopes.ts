// Slopes of a function by differences.

/** Where a corner of the loss lies within a step, such as a distance or a length of zero, the next one is shorter. */
const STEPS = [1e-3, 1e-5, 1e-7];

/** How far a gradient is from the slope of the loss, by a formula of the fourth order. */
export function fromSlope(gradient: number, loss: (shift: number) => number, bound: number): number {
  let away = Number.NaN;
  for (const step of STEPS) {
    const slope = (8 * (loss(step) - loss(-step)) - (loss(2 * step) - loss(-2 * step))) / (12 * step);
    away = Math.abs(gradient - slope);
    if (away < bound) break;
  }
  return away;
}

/** The numbers, of which one is another by so much. */
export function moved(numbers: Float64Array, at: number, shift: number): Float64Array {
  const copy = numbers.slice();
  copy[at] = (copy[at] ?? Number.NaN) + shift;
  return copy;
}
