// The largest of many numbers, and what a softmax makes of them.

/** Where the `count` largest numbers above -Infinity are, the largest first, of equals the first. */
export function indicesOfLargest(numbers: ArrayLike<number>, count: number): number[] {
  const best: number[] = [];
  let least = -Infinity;
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] ?? -Infinity;
    if (number <= least) continue;
    best.splice(placeOf(number, best, numbers), 0, index);
    if (best.length > count) best.pop();
    if (best.length === count) least = numbers[best[count - 1] ?? 0] ?? -Infinity;
  }
  return best;
}

/** Behind all that are at least as large. */
function placeOf(number: number, best: readonly number[], numbers: ArrayLike<number>): number {
  let [from, to] = [0, best.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[best[middle] ?? 0] ?? -Infinity) >= number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** ln of the sum of exp; -Infinity of nothing. */
export function logSumExp(numbers: ArrayLike<number>): number {
  let largest = -Infinity;
  for (let i = 0; i < numbers.length; i++) largest = Math.max(largest, numbers[i] ?? -Infinity);
  if (largest === -Infinity) return largest;
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += Math.exp((numbers[i] ?? -Infinity) - largest);
  return largest + Math.log(sum);
}
