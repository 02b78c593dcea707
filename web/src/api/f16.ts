// Half precision by its bits: rounding to it and widening from it, for tensors that are made and read.

/** The bits of the nearest halves, the even one of two; beyond 65504 infinity, NaN stays NaN. */
export function toF16(floats: Float32Array): Uint16Array<ArrayBuffer> {
  const words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  const halves = new Uint16Array(words.length);
  for (let i = 0; i < words.length; i++) halves[i] = roundWord(words[i] ?? 0);
  return halves;
}

function roundWord(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const size = word & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  // 65520, halfway from the largest half to what would be next.
  if (size >= 0x477ff000) return sign | 0x7c00;
  // 2^-14, the least normal half: another bias of the exponent, and 13 bits go. A carry into the exponent is right.
  if (size >= 0x38800000) return sign | withoutLast(size - 0x38000000, 13);
  // Below half of the least half, 2^-24.
  if (size < 0x33000000) return sign;
  const significand = (size & 0x7fffff) | 0x800000;
  return sign | withoutLast(significand, 126 - (size >>> 23));
}

/** Rounds the last bits off, to nearest, ties to even. */
function withoutLast(number: number, bits: number): number {
  const isOdd = (number >>> bits) & 1;
  return (number + (1 << (bits - 1)) - 1 + isOdd) >>> bits;
}

/** Exactly the halves' values. */
export function fromF16(halves: Uint16Array): Float32Array<ArrayBuffer> {
  const floats = new Float32Array(halves.length);
  const words = new Uint32Array(floats.buffer);
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i] ?? 0;
    const size = half & 0x7fff;
    if (size < 0x0400) floats[i] = half >= 0x8000 ? -size * 2 ** -24 : size * 2 ** -24;
    else words[i] = ((half & 0x8000) << 16) | ((size << 13) + (size >= 0x7c00 ? 0x70000000 : 0x38000000));
  }
  return floats;
}
