// The head of Q4_K and Q5_K: f16 d and dmin, then for each of 8 sub-blocks of 32 numbers a scale and a minimum of 6 bits, in 12 bytes.

import { f16At } from "./blocks.js";

/** The bytes of the head. */
export const HEAD = 16;

/** d times the scale of a sub-block, which its numbers are multiplied by. */
export function scaleOf(data: Uint8Array, at: number, index: number): number {
  return f16At(data, at) * sixBits(data, at + 4, index, 0);
}

/** dmin times the minimum of a sub-block, which is subtracted. */
export function minimumOf(data: Uint8Array, at: number, index: number): number {
  return f16At(data, at + 2) * sixBits(data, at + 4, index, 4);
}

/** `skip` is 0 for scales, 4 for minima. Those of the last four sub-blocks are in the nibbles of bytes 8 to 11 and the upper bits of the first 8 bytes. */
function sixBits(data: Uint8Array, at: number, index: number, skip: 0 | 4): number {
  const first = data[at + skip + (index & 3)] ?? 0;
  if (index < 4) return first & 63;
  return (((data[at + 4 + index] ?? 0) >>> skip) & 15) | ((first >>> 6) << 4);
}
