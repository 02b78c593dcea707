// Text with the range of the original text from which each of its UTF-16 code units comes, kept through every change.

import type { Budget } from "./budget.js";

/** A replacement of the code units from `from` to `to`. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export class Aligned {
  readonly text: string;
  /** Start and end of each code unit's range in the original. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #budget: Budget;

  private constructor(text: string, starts: Int32Array, ends: Int32Array, budget: Budget) {
    this.text = text;
    this.starts = starts;
    this.ends = ends;
    this.#budget = budget;
  }

  /** Both code units of a surrogate pair come from the whole character. All texts made of this one share its budget. */
  static of(text: string, budget: Budget): Aligned {
    const starts = new Int32Array(text.length);
    const ends = new Int32Array(text.length);
    let at = 0;
    for (const character of text) {
      starts.fill(at, at, at + character.length);
      at += character.length;
      ends.fill(at, at - character.length, at);
    }
    return new Aligned(text, starts, ends, budget);
  }

  slice(from: number, to: number): Aligned {
    const [starts, ends] = [this.starts.subarray(from, to), this.ends.subarray(from, to)];
    return new Aligned(this.text.slice(from, to), starts, ends, this.#budget);
  }

  /** The range in the original of the code units from `from` to `to`. */
  range(from: number, to: number): [number, number] {
    const start = this.starts[from] ?? this.ends[this.ends.length - 1] ?? 0;
    return [start, Math.max(start, this.ends[to - 1] ?? start)];
  }

  /** Replaces every character. The replacement has the character's range. */
  map(replace: (character: string) => string): Aligned {
    const changes: Change[] = [];
    let at = 0;
    for (const character of this.text) {
      const text = replace(character);
      if (text !== character) changes.push({ from: at, to: at + character.length, text });
      at += character.length;
    }
    return this.change(changes);
  }

  /** Applies changes, which are in order and do not overlap. Inserted text has the range of the code unit after it. */
  change(changes: readonly Change[]): Aligned {
    if (changes.length === 0) return this;
    const added = changes.reduce((total, { from, to, text }) => total + text.length - (to - from), 0);
    this.#budget.spend(this.text.length + added);
    const starts = new Int32Array(this.text.length + added);
    const ends = new Int32Array(starts.length);
    const texts: string[] = [];
    let [read, written] = [0, 0];
    const copy = (to: number): void => {
      texts.push(this.text.slice(read, to));
      starts.set(this.starts.subarray(read, to), written);
      ends.set(this.ends.subarray(read, to), written);
      written += to - read;
      read = to;
    };
    for (const { from, to, text } of changes) {
      copy(from);
      const last = from === to ? from : to - 1;
      starts.fill(this.starts[from] ?? 0, written, written + text.length);
      ends.fill(this.ends[last] ?? 0, written, written + text.length);
      texts.push(text);
      written += text.length;
      read = to;
    }
    copy(this.text.length);
    return new Aligned(texts.join(""), starts, ends, this.#budget);
  }
}
