// Rows of numbers as whole numbers of eight bits, each row times a scale of its own.

import { stepTo, type Tiles } from "./tiles.js";

/** The most that a number of eight bits is used for: as many above zero as below. */
const LARGEST = 127;

/** Where rows go: from a place on, in tiles. */
interface Target {
  readonly bytes: Int8Array;
  /** One a row, from the first that is written. */
  readonly scales: Float32Array;
  readonly tiles: Tiles;
  readonly place: number;
  /** Numbers of a row, those that fill it up included. */
  readonly width: number;
}

/**
 * bytes * scale is within half a scale of what was given, and a scale is the largest number of its row / 127. False where a number
 * is not finite, which no scale can help.
 */
export function quantizeRows(rows: Float32Array, dim: number, target: Target): boolean {
  const { bytes, scales, tiles, width } = target;
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
    // Rows so small that their scale vanishes are zeros.
    const inverse = scale === 0 ? 0 : 1 / scale;
    const place = target.place + row;
    const inTile = place % tiles.rows;
    const start = (place - inTile) * width + stepTo(tiles.row, inTile);
    for (let i = 0; i < dim; i++) {
      const whole = Math.round((rows[first + i] ?? 0) * inverse);
      bytes[start + stepTo(tiles.number, i)] = Math.max(-LARGEST, Math.min(LARGEST, whole));
    }
  }
  return true;
}
