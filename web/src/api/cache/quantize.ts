// Symmetric int8 quantization of rows, each with an f32 scale of its own.

import { stepTo, type Tiles } from "./tiles.js";

/** Quantized numbers lie between -127 and 127. */
const LARGEST = 127;

/** Where quantized rows are written: into tiles, from row `row` on. */
interface Target {
  readonly numbers: Int8Array;
  /** One for each row that is written. */
  readonly scales: Float32Array;
  readonly tiles: Tiles;
  readonly row: number;
  /** The length of a row in memory, with padding. */
  readonly width: number;
}

/** A scale is the largest magnitude in its row / 127, so the error is at most half a scale. Returns false where a number is not finite. */
export function quantizeRows(rows: Float32Array, dim: number, target: Target): boolean {
  const { numbers, scales, tiles, width } = target;
  for (let row = 0, first = 0; first < rows.length; row++, first += dim) {
    let largest = 0;
    for (let i = first; i < first + dim; i++) {
      const size = Math.abs(rows[i] ?? 0);
      // Written so that NaN is larger than anything.
      if (!(size <= largest)) largest = size;
      if (!(size < Number.POSITIVE_INFINITY)) return false;
    }
    const scale = Math.fround(largest / LARGEST);
    scales[row] = scale;
    // A row so small that its scale underflows becomes zeros.
    const inverse = scale === 0 ? 0 : 1 / scale;
    const at = target.row + row;
    const inTile = at % tiles.rows;
    const start = (at - inTile) * width + stepTo(tiles.row, inTile);
    for (let i = 0; i < dim; i++) {
      const whole = Math.round((rows[first + i] ?? 0) * inverse);
      numbers[start + stepTo(tiles.number, i)] = Math.max(-LARGEST, Math.min(LARGEST, whole));
    }
  }
  return true;
}
