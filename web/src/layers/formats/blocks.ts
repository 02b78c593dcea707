// Blocks of stored numbers, as GGML has them: so many numbers of a row share their scales, and lie in so many bytes.

import { fromF16, toF16 } from "../../base/f16.js";

export interface Blocks {
  /** The numbers of a block, and its bytes. */
  readonly numbers: number;
  readonly bytes: number;
  /** Of whole blocks. */
  dequantize(data: Uint8Array<ArrayBufferLike>): Float32Array<ArrayBuffer>;
}

/** `decode` writes the numbers of the block at a byte of `data` to `out`, from a place on. */
export function blocks(
  numbers: number,
  bytes: number,
  decode: (data: Uint8Array, at: number, out: Float32Array, to: number) => void,
): Blocks {
  return {
    numbers,
    bytes,
    dequantize: (data) => {
      const count = Math.floor(data.length / bytes);
      const out = new Float32Array(count * numbers);
      for (let block = 0; block < count; block++) decode(data, block * bytes, out, block * numbers);
      return out;
    },
  };
}

/** `encode` writes the block of the numbers from a place on, but for its f16 scale, which it returns as f32. */
export function encoded(
  { numbers, bytes }: Blocks,
  floats: Float32Array,
  encode: (floats: Float32Array, from: number, data: Uint8Array, at: number) => number,
): Uint8Array<ArrayBuffer> {
  const count = floats.length / numbers;
  const data = new Uint8Array(count * bytes);
  const scales = new Float32Array(count);
  for (let block = 0; block < count; block++) scales[block] = encode(floats, block * numbers, data, block * bytes);
  for (const [block, bits] of toF16(scales).entries()) {
    data[block * bytes] = bits;
    data[block * bytes + 1] = bits >>> 8;
  }
  return data;
}

let widened: Float32Array | null = null;

/** The f16 number at a byte. A table of all of them is quicker than to widen each. */
export function f16At(data: Uint8Array, at: number): number {
  widened ??= fromF16(Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits));
  return widened[(data[at] ?? 0) | ((data[at + 1] ?? 0) << 8)] ?? 0;
}
