// The sinusoidal positions of Vaswani et al. 2017, arXiv 1706.03762, section 3.5.

import { readFinite, readPositive, readRecord } from "../../base/read-values.js";
import type { ArrayTensor } from "../tensor.js";
import { newTable, readAndMake, readTableSize } from "./read.js";

/** The options of `sinusoidal`. */
export interface SinusoidalOptions {
  /** Default 10000. */
  readonly base?: number | undefined;
  /** The position of row 0. Default 0. */
  readonly offset?: number | undefined;
}

/** [length, dim]: numbers 2i and 2i + 1 of a row are sine and cosine of position * base ** (-2i / dim). Throws a HeedError. */
export function sinusoidal(length: number, dim: number, options?: SinusoidalOptions): ArrayTensor {
  return readAndMake("sinusoidal", (where) => wavesOf(where, length, dim, options));
}

function wavesOf(where: string, length: unknown, dim: unknown, options: unknown): ArrayTensor {
  const given = readRecord(where, "options", options, ["base", "offset"]);
  const rows = readTableSize(where, "length", length, 0);
  const columns = readTableSize(where, "dim", dim, 1);
  const base = readPositive(where, "base", given["base"], 10000);
  const offset = readFinite(where, "offset", given["offset"], 0);
  const made = newTable(where, [rows, columns]);
  if (rows === 0) return made;
  const frequencies = new Float64Array(columns).map((_, column) => base ** ((2 * Math.floor(column / 2)) / -columns));
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const angle = (row + offset) * (frequencies[column] ?? 0);
      made.data[row * columns + column] = column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }
  }
  return made;
}
