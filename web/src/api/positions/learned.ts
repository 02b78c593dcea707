// Learned positions: rows of a trained table.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readRecord } from "../../base/read-values.js";
import { numbersOf } from "../../base/typed-array.js";
import type { HalfTensorLike, Numbers, TensorLike } from "../options.js";
import type { ArrayTensor } from "../tensor.js";
import { newTable, readAndMake, readTable, readTableSize } from "./read.js";

/** The options of `learnedPositions`. */
export interface LearnedOptions {
  /** The number of rows, from `offset` on. Default all that are left. */
  readonly length?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** The indices of the rows, instead of both. */
  readonly positions?: Numbers | undefined;
}

/** [length, dim], from a table of [rows, dim]. Throws a HeedError. */
export function learnedPositions(table: TensorLike | HalfTensorLike, options?: LearnedOptions): ArrayTensor {
  return readAndMake("learnedPositions", (where) => rowsOf(where, table, options));
}

function rowsOf(where: string, table: unknown, options: unknown): ArrayTensor {
  const given = readRecord(where, "options", options, ["length", "offset", "positions"]);
  const { floats, rows, columns: dim } = readTable(where, table);
  const { positions } = given;
  const offset = readTableSize(where, "offset", given["offset"], 0, 0);
  const length = readTableSize(where, "length", given["length"], 0, Math.max(0, rows - offset));
  if (positions === undefined && offset + length <= rows) {
    return { data: floats.slice(offset * dim, (offset + length) * dim), shape: [length, dim], dtype: "f32" };
  }
  const wanted = numbersOf(positions);
  const isRow = (row: number): boolean => Number.isInteger(row) && row >= 0 && row < rows;
  const isBoth = positions && (given["length"] ?? given["offset"]) !== undefined;
  if (isBoth || wanted === null || !wanted.every(isRow)) {
    const got = showValue(positions ?? offset + length - 1);
    throw new HeedError("option", `${where}: takes rows 0 to ${rows - 1}, by positions or length, got ${got}`);
  }
  const made = newTable(where, [wanted.length, dim]);
  for (const [at, row] of wanted.entries()) made.data.set(floats.subarray(row * dim, (row + 1) * dim), at * dim);
  return made;
}
