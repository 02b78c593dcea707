// Whether this runtime has the dot products of relaxed SIMD. Some have the rest of it alone.

/** (func i32.const 0 i8x16.splat i32.const 0 i8x16.splat i16x8.relaxed_dot_i8x16_i7x16_s drop) */
const RELAXED_DOT = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 16, 1, 14, 0, 65, 0, 253, 15, 65, 0, 253, 15, 253,
  146, 2, 26, 11,
];

export const hasRelaxedDot = (): boolean => WebAssembly.validate(new Uint8Array(RELAXED_DOT));
