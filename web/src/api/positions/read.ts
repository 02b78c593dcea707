// Readers of the arguments of position tables, and the allocation of a table.

import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard } from "../../base/guard.js";
import { readCount } from "../../base/read-values.js";
import { checkRoom, product, readF32 } from "../operands.js";
import type { ArrayTensor } from "../tensor.js";

/** As far below zero as sizes go above it. */
export const LEAST_OFFSET = -(2 ** 24);

/** Makes a table from what a public function of this name was given. */
export function readAndMake(where: string, make: (where: string) => ArrayTensor): ArrayTensor {
  return guard("option", `${where}: reading its arguments`, () => make(where));
}

/** A whole number of at least `least`. It must be given unless there is a value for when it is absent. */
export function readTableSize(where: string, name: string, given: unknown, least: number, absent?: number): number {
  const value = given === undefined ? absent : given;
  return readCount(where, name, value ?? null, 0, 2 ** 24, least);
}

/** A table of zeros. */
export function newTable(where: string, shape: readonly number[]): ArrayTensor {
  checkRoom(where, "the result", shape);
  const data = guard("memory", `${where}: making ${showShape(shape)}`, () => new Float32Array(product(shape)));
  return { data, shape, dtype: "f32" };
}

/** A two-dimensional f32 table. */
export function readTable(
  where: string,
  value: unknown,
): { readonly floats: Float32Array; readonly rows: number; readonly columns: number } {
  const { source, shape } = readF32(where, "table", value, null);
  const [rows = 0, columns = 0] = shape;
  if (shape.length === 2 && source.kind === "array" && source.array instanceof Float32Array) {
    return { floats: source.array, rows, columns };
  }
  throw new HeedError("shape", `${where}: table must be of rank 2, got ${showShape(shape)}`);
}
