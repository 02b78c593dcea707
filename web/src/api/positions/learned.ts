// Learned positions: rows of a table that somebody trained.

import { showValue } from "../describe.js";
import { HeedError } from "../errors.js";
import type { TensorLike } from "../options.js";
import { readRecord } from "../read-values.js";
import type { ArrayTensor } from "../tensor.js";
import { numbersOf } from "../typed-array.js";
import { readTable } from "./read.js";

export interface LearnedOptions {
  /** Rows from `offset` on: so many. Default all that are left. */
  readonly length?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
  /** The rows themselves, in place of both. */
  readonly positions?: ArrayLike<number> | undefined;
}

/** [length, dim], from a table of [rows, dim]. Throws a HeedError. */
export function learnedPositions(table: TensorLike, options?: LearnedOptions): ArrayTensor {
  const where = "learnedPositions";
  const given = readRecord(where, "options", options, ["length", "offset", "positions"]);
  const { floats, rows, columns: dim } = readTable(where, table);
  const { offset = 0, length = rows - Number(offset), positions } = given;
  const wanted =
    positions === undefined
      ? Array.from({ length: Number(length) }, (_, at) => Number(offset) + at)
      : numbersOf(positions);
  const isRow = (row: number): boolean => Number.isInteger(row) && row >= 0 && row < rows;
  const isBoth = positions && (given["length"] ?? given["offset"]) !== undefined;
  if (isBoth || wanted === null || !wanted.every(isRow)) {
    throw new HeedError(
      "option",
      `${where}: takes rows 0 to ${rows - 1}, by positions or by length and offset, got ${showValue(positions ?? wanted)}`,
    );
  }
  const data = new Float32Array(wanted.length * dim);
  for (const [at, row] of wanted.entries()) data.set(floats.subarray(row * dim, (row + 1) * dim), at * dim);
  return { data, shape: [wanted.length, dim], dtype: "f32" };
}
