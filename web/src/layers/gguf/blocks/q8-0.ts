// Q8_0: 32 numbers d q in 34 bytes, an f16 scale d and 32 signed bytes q.

import { HeedError } from "../../../base/errors.js";
import { toF16 } from "../../../base/f16.js";
import { blocks, f16At } from "./blocks.js";

const NUMBERS = 32;
const BYTES = 34;

export const Q8_0 = blocks(NUMBERS, BYTES, (data, at, out, to) => {
  const d = f16At(data, at);
  for (let i = 0; i < NUMBERS; i++) out[to + i] = d * (((data[at + 2 + i] ?? 0) << 24) >> 24);
});

/** Quantizes as GGML's quantize_row_q8_0_ref does. Throws where a number or a scale is not finite. */
export function quantizeQ8_0(what: string, floats: Float32Array): Uint8Array<ArrayBuffer> {
  const count = floats.length / NUMBERS;
  const data = new Uint8Array(count * BYTES);
  const scales = new Float32Array(count);
  for (let block = 0; block < count; block++) {
    const from = block * NUMBERS;
    let largest = 0;
    for (let i = 0; i < NUMBERS; i++) largest = Math.max(largest, Math.abs(floats[from + i] ?? 0));
    const d = Math.fround(largest / 127);
    const inverse = d === 0 ? 0 : Math.fround(1 / d);
    scales[block] = d;
    for (let i = 0; i < NUMBERS; i++) {
      data[block * BYTES + 2 + i] = roundAway(Math.fround((floats[from + i] ?? 0) * inverse));
    }
  }
  for (const [block, bits] of toF16(scales).entries()) {
    if ((bits & 0x7c00) === 0x7c00) {
      throw new HeedError("load", `${what} must have finite numbers, with scales of f16, to become int8`);
    }
    data[block * BYTES] = bits;
    data[block * BYTES + 1] = bits >>> 8;
  }
  return data;
}

/** To the nearest integer, halves away from zero, as C's roundf. */
const roundAway = (number: number): number => Math.sign(number) * Math.floor(Math.abs(number) + 0.5);
