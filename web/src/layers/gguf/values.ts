// The metadata of GGUF files: values of 13 types by name.

import { showValue } from "../../base/describe.js";
import type { HeaderCursor } from "./header-cursor.js";

/** 64-bit integers are numbers where these are exact. */
export type GgufValue = string | number | bigint | boolean | readonly GgufValue[];

/** The most values in all arrays of a file together, the most arrays in each other, and the longest name. */
const MOST_VALUES = 2 ** 24;
const DEEPEST = 4;
export const LONGEST_NAME = 2 ** 16 - 1;

const MOST_FIELDS = 2 ** 16;

const TEXT = 8;
const ARRAY = 9;

const exact = (number: bigint): number | bigint => (Number.isSafeInteger(Number(number)) ? Number(number) : number);

/** The numbers of a type: its bytes, and how they are read. */
const NUMBERS = new Map<number, readonly [bytes: number, get: (view: DataView, at: number) => number | bigint]>([
  [0, [1, (view, at) => view.getUint8(at)]],
  [1, [1, (view, at) => view.getInt8(at)]],
  [2, [2, (view, at) => view.getUint16(at, true)]],
  [3, [2, (view, at) => view.getInt16(at, true)]],
  [4, [4, (view, at) => view.getUint32(at, true)]],
  [5, [4, (view, at) => view.getInt32(at, true)]],
  [6, [4, (view, at) => view.getFloat32(at, true)]],
  [7, [1, (view, at) => view.getUint8(at)]],
  [10, [8, (view, at) => exact(view.getBigUint64(at, true))]],
  [11, [8, (view, at) => exact(view.getBigInt64(at, true))]],
  [12, [8, (view, at) => view.getFloat64(at, true)]],
]);
const BOOL = 7;

export async function readValues(cursor: HeaderCursor, count: number): Promise<ReadonlyMap<string, GgufValue>> {
  const values = new Map<string, GgufValue>();
  const reader = new ValueReader(cursor);
  for (let i = 0; i < count; i++) {
    const name = await cursor.text("a name", LONGEST_NAME);
    if (values.has(name)) throw cursor.refusal("metadata must name nothing twice", showValue(name));
    values.set(name, await reader.read(name, await cursor.u32(), 0));
  }
  return values;
}

export const fieldCount = (cursor: HeaderCursor): Promise<number> =>
  cursor.count("the number of metadata fields", MOST_FIELDS);

class ValueReader {
  readonly #cursor: HeaderCursor;
  #left = MOST_VALUES;

  constructor(cursor: HeaderCursor) {
    this.#cursor = cursor;
  }

  async read(name: string, type: number, depth: number): Promise<GgufValue> {
    if (type === TEXT) return this.#cursor.text(showValue(name));
    if (type === ARRAY) return this.#array(name, depth + 1);
    const number = NUMBERS.get(type);
    if (number === undefined) {
      throw this.#cursor.refusal(`metadata ${showValue(name)} must be of a type from 0 to 12`, type);
    }
    const value = await this.#cursor.number(...number);
    if (type !== BOOL) return value;
    if (value === 0 || value === 1) return value === 1;
    throw this.#cursor.refusal(`metadata ${showValue(name)} must be a boolean of 0 or 1`, value);
  }

  async #array(name: string, depth: number): Promise<readonly GgufValue[]> {
    if (depth > DEEPEST) {
      throw this.#cursor.refusal(
        `metadata ${showValue(name)} must have at most ${DEEPEST} arrays in each other`,
        "more",
      );
    }
    const type = await this.#cursor.u32();
    const count = await this.#cursor.count(`the length of the array ${showValue(name)}`, this.#left);
    this.#left -= count;
    const list: GgufValue[] = [];
    const what = showValue(name);
    for (let i = 0; i < count; i++) {
      const there = type === TEXT ? this.#cursor.textThere(what) : null;
      list.push(there ?? (await this.read(name, type, depth)));
    }
    return Object.freeze(list);
  }
}
