// Llama's files have the rows of queries and keys in pairs of neighbours, as GGML's rope turns them; published models have the halves of
// each head one after the other.

import { HeedError } from "../../base/errors.js";

/** Moves rows back, whole, so that blocks stay what they are. */
export function separated(
  what: string,
  bytes: Uint8Array<ArrayBuffer>,
  rows: number,
  heads: number,
): Uint8Array<ArrayBuffer> {
  const width = bytes.length / rows;
  const half = rows / heads / 2;
  if (!Number.isInteger(width) || !Number.isInteger(half)) {
    throw new HeedError("shape", `${what} must have an even number of rows for each of ${heads} heads, got ${rows}`);
  }
  const moved = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    const [first, inHead] = [row - (row % (2 * half)), row % (2 * half)];
    const from = (first + 2 * (inHead % half) + Math.floor(inHead / half)) * width;
    moved.set(bytes.subarray(from, from + width), row * width);
  }
  return moved;
}
