// Whole numbers of 8 and 16 bits: what WebAssembly has instructions for that xsimd does not give. Each primitive has a
// body of plain C++ beside it, for all other machines.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/simd/batch.hpp"

namespace heed::kernels {

/// Two int16, in every lane.
inline I32Batch broadcast_pair(const std::int16_t* pair) {
  std::int32_t bits = 0;
  std::memcpy(&bits, pair, sizeof bits);
  return {bits};
}

/// The dot products of kLanes pairs of int8 with a pair of int16 in every lane.
[[gnu::always_inline]] inline I32Batch dot_pairs(const std::int8_t* pairs, I32Batch pair) {
#ifdef __wasm_simd128__
  return wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(pairs), pair);
#else
  const std::int32_t bits = pair.get(0);
  const int low = static_cast<std::int16_t>(bits);
  const int high = bits >> 16;
  alignas(kScratchAlignment) std::int32_t sums[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) sums[lane] = pairs[2 * lane] * low + pairs[2 * lane + 1] * high;
  return I32Batch::load_aligned(sums);
#endif
}

/// The products of the low 16 bits of each lane, as int16; the high 16 bits of `factors` are zeros.
[[gnu::always_inline]] inline I32Batch multiply_low_i16(I32Batch numbers, I32Batch factors) {
#ifdef __wasm_simd128__
  return wasm_i32x4_dot_i16x8(numbers, factors);
#else
  return ((numbers << 16) >> 16) * factors;
#endif
}

/// Stores the low 16 bits of each lane of two vectors.
[[gnu::always_inline]] inline void store_low_i16(I32Batch first, I32Batch second, std::int16_t* target) {
#ifdef __wasm_simd128__
  wasm_v128_store(target, wasm_i16x8_shuffle(first, second, 0, 2, 4, 6, 8, 10, 12, 14));
#else
  alignas(kScratchAlignment) std::int32_t words[kPanel];
  first.store_aligned(words);
  second.store_aligned(words + kLanes);
  std::int16_t narrow[kPanel];
  for (int i = 0; i < kPanel; ++i) narrow[i] = static_cast<std::int16_t>(words[i]);
  std::memcpy(target, narrow, sizeof narrow);
#endif
}

/// Loads kPanel 16-bit numbers, two in a lane.
[[gnu::always_inline]] inline I32Batch load_u16(const std::uint16_t* source) {
#ifdef __wasm_simd128__
  return wasm_v128_load(source);
#else
  alignas(kScratchAlignment) std::int32_t words[kLanes];
  std::memcpy(words, source, sizeof words);
  return I32Batch::load_aligned(words);
#endif
}

#ifdef __wasm_simd128__
[[gnu::always_inline]] inline void store_scaled_x8(v128_t numbers, float scale, float* target) {
  (Batch(wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(numbers))) * scale).store_unaligned(target);
  (Batch(wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(numbers))) * scale).store_unaligned(target + 4);
}
#endif

/// Widens four pairs of int8 that lie `stride` bytes apart, times a scale.
[[gnu::always_inline]] inline void widen_pairs_x8(const std::int8_t* pairs, std::ptrdiff_t stride, float scale,
                                                  float* target) {
#ifdef __wasm_simd128__
  v128_t four = wasm_v128_load16_lane(pairs, wasm_i32x4_const_splat(0), 0);
  four = wasm_v128_load16_lane(pairs + stride, four, 1);
  four = wasm_v128_load16_lane(pairs + 2 * stride, four, 2);
  four = wasm_v128_load16_lane(pairs + 3 * stride, four, 3);
  store_scaled_x8(wasm_i16x8_extend_low_i8x16(four), scale, target);
#else
  for (int i = 0; i < 8; ++i) {
    const std::int8_t* const pair = pairs + i / 2 * stride;
    target[i] = static_cast<float>(pair[i % 2]) * scale;
  }
#endif
}

/// Widens eight int8, every other byte from `first` on, times a scale. They are the lower or the upper bytes of 16-bit
/// words, which start at even addresses.
[[gnu::always_inline]] inline void widen_every_other_x8(const std::int8_t* first, float scale, float* target) {
#ifdef __wasm_simd128__
  const auto is_upper = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(first) % 2);
  const v128_t words = wasm_v128_load(first - is_upper);
  store_scaled_x8(wasm_i16x8_shr(wasm_i16x8_shl(words, 8 - 8 * is_upper), 8), scale, target);
#else
  for (int i = 0; i < 8; ++i) target[i] = static_cast<float>(first[std::ptrdiff_t{2} * i]) * scale;
#endif
}

}  // namespace heed::kernels
