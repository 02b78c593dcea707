// bfloat16 as bits, the upper 16 of an f32: rounding f32 to it, and widening it.

export function fromBf16(bf16: Uint16Array): Float32Array<ArrayBuffer> {
  const f32 = new Uint32Array(bf16.length);
  for (let i = 0; i < bf16.length; i++) f32[i] = (bf16[i] ?? 0) << 16;
  return new Float32Array(f32.buffer);
}

/** To nearest, ties to even. A carry out of the fraction into the exponent is right, up to infinity. NaN stays NaN, whatever bits it loses. */
export function toBf16(floats: Float32Array): Uint16Array<ArrayBuffer> {
  const f32 = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  const bf16 = new Uint16Array(f32.length);
  for (let i = 0; i < f32.length; i++) {
    const number = f32[i] ?? 0;
    const isNumber = (number & 0x7fffffff) <= 0x7f800000;
    bf16[i] = isNumber ? (number + 0x7fff + ((number >>> 16) & 1)) >>> 16 : (number >>> 16) | 0x40;
  }
  return bf16;
}
