// The tables of a call: copies, because a caller may write to its own, or transfer them away, once they are checked.

import { showValue } from "../api/describe.js";
import { isFloat32Array, plainF32 } from "../api/typed-array.js";
import { type Fail, sizesOf } from "./rules.js";
import type { TableData } from "./tree.js";

/** A table, which of a call's it is, and where its numbers start. */
export interface PlacedTable extends TableData {
  readonly index: number;
  readonly offset: number;
}

/** So that kernels, which count in 32 bits, can tell where all of them lie. */
const MOST_NUMBERS = 2 ** 30;

/** Their numbers lie one after the other, each table's once. */
export class Tables {
  readonly #all = new Map<unknown, PlacedTable>();
  #end = 0;

  /** Of what may be anything: each of its properties is read once. */
  place(given: unknown, fail: Fail): PlacedTable {
    const known = this.#all.get(given);
    if (known !== undefined) return known;
    const { data, shape, type } = Object(given);
    if (!isFloat32Array(data)) return fail(`the data of a table must be a Float32Array, got ${showValue(data)}`);
    const copy = plainF32(data).slice();
    const placed = { data: copy, shape: sizesOf(shape, copy.length, fail), type, index: this.count, offset: this.#end };
    this.#end += copy.length;
    if (this.#end > MOST_NUMBERS) fail(`tables must have at most ${MOST_NUMBERS} numbers in all, got ${this.#end}`);
    this.#all.set(given, placed);
    return placed;
  }

  /** Six words each: where its numbers start, how many axes it has, and their sizes. */
  words(): readonly number[] {
    return [...this.#all.values()].flatMap(({ shape, offset }) => {
      const sizes = [0, 1, 2, 3].map((axis) => shape[axis] ?? 1);
      return [offset, shape.length, ...sizes];
    });
  }

  get count(): number {
    return this.#all.size;
  }

  numbers(): Float32Array<ArrayBuffer> {
    const numbers = new Float32Array(this.#end);
    for (const { data, offset } of this.#all.values()) numbers.set(data, offset);
    return numbers;
  }
}
