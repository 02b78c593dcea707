// f16 as bits: rounding f32 to it, and widening it to f32.

/** The bits of the nearest f16 numbers, ties to even. Numbers beyond 65504 become infinite, NaN stays NaN. */
export function toF16(floats: Float32Array): Uint16Array<ArrayBuffer> {
  const f32 = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  const f16 = new Uint16Array(f32.length);
  for (let i = 0; i < f32.length; i++) f16[i] = rounded(f32[i] ?? 0);
  return f16;
}

/** From the bits of an f32 number to those of an f16. */
function rounded(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  // 65520 lies halfway between the largest f16 and what would be the next.
  if (size >= 0x477ff000) return sign | 0x7c00;
  // From 2^-14 on f16 is normal: the exponent has another bias, and 13 bits are dropped. A carry into the exponent is right.
  if (size >= 0x38800000) return sign | withoutLast(size - 0x38000000, 13);
  // Half of the smallest f16, 2^-24, rounds to zero.
  if (size < 0x33000000) return sign;
  const significand = (size & 0x7fffff) | 0x800000;
  return sign | withoutLast(significand, 126 - (size >>> 23));
}

/** Rounds the last bits off, to nearest, ties to even. */
function withoutLast(number: number, bits: number): number {
  const isOdd = (number >>> bits) & 1;
  return (number + (1 << (bits - 1)) - 1 + isOdd) >>> bits;
}

/** What was downloaded, in f32; without a copy where it is that already. */
export function asF32(downloaded: Float32Array | Uint16Array): Float32Array {
  return downloaded instanceof Uint16Array ? fromF16(downloaded) : downloaded;
}

/** The same values, exactly. */
export function fromF16(f16: Uint16Array): Float32Array<ArrayBuffer> {
  const floats = new Float32Array(f16.length);
  const f32 = new Uint32Array(floats.buffer);
  for (let i = 0; i < f16.length; i++) {
    const bits = f16[i] ?? 0;
    const size = bits & 0x7fff;
    if (size < 0x0400) floats[i] = bits >= 0x8000 ? -size * 2 ** -24 : size * 2 ** -24;
    else f32[i] = ((bits & 0x8000) << 16) | ((size << 13) + (size >= 0x7c00 ? 0x70000000 : 0x38000000));
  }
  return floats;
}
