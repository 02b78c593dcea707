// Whole numbers of 16 bits: dot products of pairs, two in a lane of 32 bits, and one in each lane.
#pragma once

#include "kernels/simd/i16.hpp"

namespace heed::kernels {

/// Loads kLanes numbers.
[[gnu::always_inline]] inline I32Batch load_i16_lanes(const std::uint8_t* numbers) {
#ifdef __wasm_simd128__
  return wasm_i32x4_load16x4(numbers);
#else
  std::int16_t bits[kLanes];
  std::memcpy(bits, numbers, sizeof bits);
  alignas(kScratchAlignment) std::int32_t words[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) words[lane] = bits[lane];
  return I32Batch::load_aligned(words);
#endif
}

/// Loads kLanes pairs of int8, widened to int16.
[[gnu::always_inline]] inline I32Batch load_i8_pairs(const std::uint8_t* pairs) {
#ifdef __wasm_simd128__
  return wasm_i16x8_load8x8(pairs);
#else
  alignas(kScratchAlignment) std::int32_t words[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int low = pairs[2 * lane] << 24 >> 24, high = pairs[2 * lane + 1] << 24 >> 24;
    words[lane] = (low & 0xFFFF) | (high * 0x10000);
  }
  return I32Batch::load_aligned(words);
#endif
}

/// The sum of both products of each lane.
[[gnu::always_inline]] inline I32Batch dot_i16(I32Batch a, I32Batch b) {
#ifdef __wasm_simd128__
  return wasm_i32x4_dot_i16x8(a, b);
#else
  return ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
}

/// The pairs of nibbles of 16 bytes, widened to int16: those of outputs `vector` * kLanes on, of which the first eight
/// are low.
[[gnu::always_inline]] inline I32Batch load_nibble_pairs(const std::uint8_t* pairs, int vector) {
#ifdef __wasm_simd128__
  const v128_t eight = wasm_u16x8_load8x8(pairs + vector % 2 * 8);
  // V8 would build a mask anew each time.
  return vector < 2 ? wasm_u16x8_shr(wasm_i16x8_shl(eight, 12), 12) : wasm_u16x8_shr(eight, 4);
#else
  alignas(kScratchAlignment) std::int32_t words[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int output = vector * kLanes + lane;
    const int shift = output < 8 ? 0 : 4;
    const std::uint8_t* const pair = pairs + 2 * (output % 8);
    words[lane] = ((pair[0] >> shift) & 15) | (((pair[1] >> shift) & 15) << 16);
  }
  return I32Batch::load_aligned(words);
#endif
}

}  // namespace heed::kernels
