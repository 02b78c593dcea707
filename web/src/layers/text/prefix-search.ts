// Finds the tokens that a text has at a position, by binary search in the sorted vocabulary. A trie of a quarter of a million tokens would
// take longer to build and more memory.

/** Tokens from `low` to before `high` of the sorted ones. */
interface Range {
  readonly low: number;
  readonly high: number;
}

const NONE: Range = { low: 0, high: 0 };

export class PrefixSearch {
  readonly #tokens: readonly string[];
  /** The tokens that begin with a code unit. */
  readonly #byFirst = new Map<number, Range>();

  constructor(tokens: Iterable<string>) {
    this.#tokens = Array.from(tokens)
      .filter((token) => token !== "")
      .sort();
    for (let low = 0; low < this.#tokens.length; ) {
      const first = this.#unit(low, 0);
      const high = this.#firstAbove(low, this.#tokens.length, 0, first);
      this.#byFirst.set(first, { low, high });
      low = high;
    }
  }

  /** Calls `found` with each token that is in `text` at `from`, the shortest first. */
  each(text: string, from: number, found: (token: string) => void): void {
    let { low, high } = this.#byFirst.get(text.charCodeAt(from)) ?? NONE;
    for (let depth = 1; low < high; depth++) {
      const shortest = this.#tokens[low] ?? "";
      if (shortest.length === depth) {
        found(shortest);
        low += 1;
      }
      if (from + depth >= text.length) return;
      const unit = text.charCodeAt(from + depth);
      low = this.#firstAbove(low, high, depth, unit - 1);
      high = this.#firstAbove(low, high, depth, unit);
    }
  }

  /** The first token from `low` on whose code unit at `depth` is above `unit`. */
  #firstAbove(low: number, high: number, depth: number, unit: number): number {
    let [from, to] = [low, high];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#unit(middle, depth) > unit) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  #unit(index: number, depth: number): number {
    return this.#tokens[index]?.charCodeAt(depth) ?? 0;
  }
}
