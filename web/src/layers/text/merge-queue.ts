// A priority queue of the possible merges in a word, by rank and then from left to right: a binary heap.

export interface Merge {
  readonly rank: number;
  /** The index of the left symbol. */
  readonly left: number;
  /** The id of the merged token. */
  readonly id: number;
}

export class MergeQueue {
  readonly #heap: Merge[] = [];

  push(merge: Merge): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(merge, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = merge;
  }

  pop(): Merge | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const child = this.#firstChild(at);
      const below = heap[child];
      if (below === undefined || !isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  #firstChild(at: number): number {
    const left = this.#heap[2 * at + 1];
    const right = this.#heap[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}

const isBefore = (a: Merge, b: Merge): boolean => a.rank < b.rank || (a.rank === b.rank && a.left < b.left);
