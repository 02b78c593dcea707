// Tables of Shaw's relative positions, with a row for each distance between a key and a query.

import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { type ReadTensor, readF32 } from "../operands.js";

/** [2 k + 1, dim]: row k + c is for keys c after the query, and the first and last rows also for all further away. */
export function readDistances(where: string, value: unknown): ReadTensor {
  const table = readF32(where, "table", value, null);
  const [rows = 0, dim = 0] = table.shape;
  if (table.shape.length === 2 && rows % 2 === 1 && dim > 0) return table;
  throw new HeedError(
    "shape",
    `${where}: table must be [2 k + 1, dim], an odd number of rows, got ${showShape(table.shape)}`,
  );
}

export function distanceRow(rows: number, offset: number): (query: number, key: number) => number {
  const most = (rows - 1) / 2;
  return (query, key) => most + Math.min(Math.max(key - query - offset, -most), most);
}

/** For each query the sums of its numbers, one a key, by the row of their distance. */
export function sumsByDistance(
  numbers: Float32Array,
  [heads, queries, keys]: readonly [number, number, number],
  { rows, offset }: { readonly rows: number; readonly offset: number },
): Float32Array<ArrayBuffer> {
  const rowOf = distanceRow(rows, offset);
  const sums = new Float64Array(heads * queries * rows);
  for (let query = 0; query < heads * queries; query++) {
    for (let j = 0; j < keys; j++) {
      const at = query * rows + rowOf(query % queries, j);
      sums[at] = (sums[at] ?? 0) + (numbers[query * keys + j] ?? 0);
    }
  }
  return Float32Array.from(sums);
}

export function floatsOf({ source }: ReadTensor): Float32Array {
  if (source.kind === "array" && source.array instanceof Float32Array) return source.array;
  throw new TypeError("an f32 tensor is not a Float32Array");
}
