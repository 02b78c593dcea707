// Formats of 16 bits a number.

import type { NarrowFormat } from "./format.js";

export function twoBytes<Name extends "f16" | "bf16">(
  name: Name,
  widen: (bits: Uint16Array) => Float32Array<ArrayBuffer>,
  round: (floats: Float32Array) => Uint16Array<ArrayBuffer>,
  limit: number,
): NarrowFormat<Name> {
  return {
    name,
    numbers: 1,
    bytes: 2,
    panelBytes: 32,
    array: ({ buffer, byteOffset, length }) => new Uint16Array(buffer, byteOffset, length / 2),
    dequantize: ({ buffer, byteOffset, length }) => widen(new Uint16Array(buffer, byteOffset, length / 2)),
    rounding: { limit, isOpen: true, quantize: (floats) => new Uint8Array(round(floats).buffer) },
  };
}
