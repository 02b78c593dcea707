// Q8_0: 32 numbers d q in 34 bytes, an f16 scale d and 32 signed bytes q.

import { blocks, encoded, f16At } from "./blocks.js";
import type { NarrowFormat } from "./format.js";

const NUMBERS = 32;

const Q8_0 = blocks(NUMBERS, 34, (data, at, out, to) => {
  const d = f16At(data, at);
  for (let i = 0; i < NUMBERS; i++) out[to + i] = d * (((data[at + 2 + i] ?? 0) << 24) >> 24);
});

/** Quantizes as GGML's quantize_row_q8_0_ref does. */
function encode(floats: Float32Array, from: number, data: Uint8Array, at: number): number {
  let largest = 0;
  for (let i = 0; i < NUMBERS; i++) largest = Math.max(largest, Math.abs(floats[from + i] ?? 0));
  const d = Math.fround(largest / 127);
  const inverse = d === 0 ? 0 : Math.fround(1 / d);
  for (let i = 0; i < NUMBERS; i++) data[at + 2 + i] = roundAway(Math.fround((floats[from + i] ?? 0) * inverse));
  return d;
}

/** To the nearest integer, and from halfway between two to the one further from zero, as C's roundf. */
const roundAway = (number: number): number => Math.sign(number) * Math.floor(Math.abs(number) + 0.5);

export const INT8 = {
  name: "int8",
  ...Q8_0,
  panelBytes: (512 + 64) / NUMBERS,
  array: (bytes: Uint8Array<ArrayBuffer>) => bytes,
  // f16 scales are below 65520.
  rounding: { limit: 127 * 65520, isOpen: false, quantize: (floats: Float32Array) => encoded(Q8_0, floats, encode) },
} as const satisfies NarrowFormat<"int8">;
