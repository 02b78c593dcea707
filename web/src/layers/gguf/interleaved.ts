// Llama's files have the rows of queries and keys in pairs of neighbours, as GGML's rope turns them; published models have the halves of
// each head one after the other.

import { HeedError } from "../../base/errors.js";

/** The rows of each of so many heads. Throws where they are not in pairs, or no whole bytes. */
export function rowsOfHead(what: string, rows: number, heads: number, bytes: number): number {
  if (Number.isInteger(rows / heads / 2) && Number.isInteger(bytes / rows)) return rows / heads;
  const rule = `${what} must have an even number of rows, of whole bytes, for each of ${heads} heads`;
  throw new HeedError("shape", `${rule}, got ${rows} of ${bytes / rows}`);
}

/** Moves the rows of whole heads back, so that blocks stay what they are. */
export function separated(bytes: Uint8Array<ArrayBuffer>, rows: number, inHead: number): Uint8Array<ArrayBuffer> {
  const [width, half] = [bytes.length / rows, inHead / 2];
  const moved = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    const at = row % inHead;
    const from = (row - at + 2 * (at % half) + Math.floor(at / half)) * width;
    moved.set(bytes.subarray(from, from + width), row * width);
  }
  return moved;
}
