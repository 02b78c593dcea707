// The largest of many numbers, and the logarithm of a softmax's denominator.

/** The indices of the `count` largest numbers above -Infinity, the largest first; of equals, the first. */
export function indicesOfLargest(numbers: ArrayLike<number>, count: number): number[] {
  const at = (index = 0): number => numbers[index] ?? -Infinity;
  let best: number[] = [];
  let least = -Infinity;
  const narrow = (): void => {
    best = best.sort((a, b) => at(b) - at(a) || a - b).slice(0, count);
  };
  for (let index = 0; index < numbers.length; index++) {
    if (at(index) <= least) continue;
    best.push(index);
    if (best.length < 2 * count) continue;
    narrow();
    least = at(best[count - 1]);
  }
  narrow();
  return best;
}

/** ln of the sum of exp; -Infinity for no numbers. */
export function logSumExp(numbers: ArrayLike<number>): number {
  let largest = -Infinity;
  for (let i = 0; i < numbers.length; i++) largest = Math.max(largest, numbers[i] ?? -Infinity);
  if (largest === -Infinity) return largest;
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += Math.exp((numbers[i] ?? -Infinity) - largest);
  return largest + Math.log(sum);
}
