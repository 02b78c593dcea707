// A priority queue of the possible merges in a word, by rank and then from left to right: a binary heap of numbers, because one of objects is
// scattered over the memory of a long word.

/** Above the length of every word. Ranks are below 2^24, which is as many rules as a Map holds, so keys are exact. */
const LONGEST = 2 ** 29;

export interface Merge {
  readonly rank: number;
  /** The index of the left symbol. */
  readonly left: number;
}

export class MergeQueue {
  readonly #heap: number[] = [];

  push({ rank, left }: Merge): void {
    const key = rank * LONGEST + left;
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] ?? 0;
      if (parent <= key) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = key;
  }

  pop(): Merge | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (heap.length > 0) this.#sink(last);
    return { rank: Math.floor(first / LONGEST), left: first % LONGEST };
  }

  /** Puts a key in the place of the first. */
  #sink(key: number): void {
    const heap = this.#heap;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if ((heap[child + 1] ?? Infinity) < (heap[child] ?? 0)) child += 1;
      const below = heap[child] ?? 0;
      if (below >= key) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = key;
  }
}
