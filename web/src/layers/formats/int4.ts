// Q4_0: 32 numbers d (u - 8) in 18 bytes, an f16 scale d and 32 nibbles u: the low ones of all bytes, then the high ones.

import { blocks, encoded, f16At } from "./blocks.js";
import type { NarrowFormat } from "./format.js";

const NUMBERS = 32;

const Q4_0 = blocks(NUMBERS, 18, (data, at, out, to) => {
  const d = f16At(data, at);
  for (let i = 0; i < 16; i++) {
    const byte = data[at + 2 + i] ?? 0;
    out[to + i] = d * ((byte & 15) - 8);
    out[to + 16 + i] = d * ((byte >>> 4) - 8);
  }
});

/** Quantizes as GGML's quantize_row_q4_0_ref does: the number of largest magnitude becomes -8 d. */
function encode(floats: Float32Array, from: number, data: Uint8Array, at: number): number {
  let largest = 0;
  for (let i = 0; i < NUMBERS; i++) {
    const number = floats[from + i] ?? 0;
    if (Math.abs(number) > Math.abs(largest)) largest = number;
  }
  const d = Math.fround(largest / -8);
  const inverse = d === 0 ? 0 : Math.fround(1 / d);
  const nibble = (i: number): number =>
    Math.min(15, Math.floor(Math.fround(Math.fround((floats[from + i] ?? 0) * inverse) + 8.5)));
  for (let i = 0; i < 16; i++) data[at + 2 + i] = nibble(i) | (nibble(16 + i) << 4);
  return d;
}

export const INT4 = {
  name: "int4",
  ...Q4_0,
  panelBytes: (256 + 64) / NUMBERS,
  array: (bytes: Uint8Array<ArrayBuffer>) => bytes,
  // f16 scales are below 65520.
  rounding: { limit: 8 * 65520, isOpen: false, quantize: (floats: Float32Array) => encoded(Q4_0, floats, encode) },
} as const satisfies NarrowFormat<"int4">;
