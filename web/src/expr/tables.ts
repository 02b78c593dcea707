// The tables of a call. They are copied, because the caller may write to its own or transfer them away after the check.

import { showValue } from "../base/describe.js";
import { isFloat32Array, plainF32 } from "../base/typed-array.js";
import { type Fail, sizesOf } from "./rules.js";
import type { TableData } from "./tree.js";

/** A table of a call: its index, and where its numbers start. */
export interface ProgramTable extends TableData {
  readonly index: number;
  readonly offset: number;
}

/** Kernels address numbers of tables with 32 bits. */
const MOST_NUMBERS = 2 ** 30;

/** The numbers of all tables, concatenated; those of a table that is used twice are there once. */
export class Tables {
  readonly #all = new Map<unknown, ProgramTable>();
  #end = 0;

  /** Adds a table, which may be any value, so each of its properties is read once. */
  add(given: unknown, fail: Fail): ProgramTable {
    const known = this.#all.get(given);
    if (known !== undefined) return known;
    const { data, shape, type, of } = Object(given);
    if (of !== undefined) fail("only pass.attention takes tables of tensors");
    if (!isFloat32Array(data)) return fail(`the data of a table must be a Float32Array, got ${showValue(data)}`);
    const copy = plainF32(data).slice();
    const table = { data: copy, shape: sizesOf(shape, copy.length, fail), type, index: this.count, offset: this.#end };
    this.#end += copy.length;
    if (this.#end > MOST_NUMBERS) fail(`tables must have at most ${MOST_NUMBERS} numbers in all, got ${this.#end}`);
    this.#all.set(given, table);
    return table;
  }

  /** Six words for each table: the start of its numbers, the number of axes, and four sizes. */
  words(): readonly number[] {
    return [...this.#all.values()].flatMap(({ shape, offset }) => {
      const sizes = [0, 1, 2, 3].map((axis) => shape[axis] ?? 1);
      return [offset, shape.length, ...sizes];
    });
  }

  /** What tables were made of, and the tables, in the order in which they were added. */
  entries(): Iterable<[unknown, ProgramTable]> {
    return this.#all;
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
