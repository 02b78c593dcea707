// The products of a few quantized rows with one group of a packed panel: exact sums of whole numbers.
#pragma once

#include "kernels/narrow/panels.hpp"
#include "kernels/narrow/quantized_group.hpp"

namespace heed::kernels {

inline constexpr int kNarrowVectors = kNarrowPanel / kLanes;

/// Sums of products; of nibbles, 8 less than each.
template <int kRows>
using NarrowTile = I32Batch[kRows][kNarrowVectors];

/// By products of 16 bits, a pair of inputs at a time. LLVM computes what is used once where it is used, so in unrolled
/// turns more would be alive at a time than there are registers.
template <class Weights>
struct PairProducts {
  using Panel = Weights;
  static constexpr int kMostRows = 3;

  template <int kRows>
  [[gnu::always_inline]] static void multiply(const std::uint8_t* numbers, const QuantizedGroup* const (&rows)[kRows],
                                              NarrowTile<kRows>& tile) {
    for (int r = 0; r < kRows; ++r)
      for (auto& sums : tile[r]) sums = I32Batch(rows[r]->start);
    HEED_KEEP_LOOP
    for (int pair = 0; pair < kPairs; ++pair) {
      I32Batch both[kRows];
      for (int r = 0; r < kRows; ++r) both[r] = I32Batch(rows[r]->pairs[pair]);
      for (int v = 0; v < kNarrowVectors; ++v) {
        const I32Batch weights = Panel::load_pairs(numbers + pair * Panel::kPairBytes, v);
        for (int r = 0; r < kRows; ++r) tile[r][v] += dot_i16(weights, both[r]);
      }
    }
  }
};

#ifdef __wasm_relaxed_simd__
inline constexpr std::uint8_t kNibble = 15;

/// 4 bits by relaxed dot products, whose second operand has at most 7 bits. Whatever instruction an engine takes for
/// them, no pair of products is beyond 3,810. Sums of 16 bits may wrap on the way: at the end, with 8 subtracted from
/// each nibble, they are within 32,512.
template <class Weights>
struct RelaxedNibbleProducts {
  using Panel = Weights;
  static constexpr int kMostRows = 5;

  template <int kRows>
  [[gnu::always_inline]] static void multiply(const std::uint8_t* numbers, const QuantizedGroup* const (&rows)[kRows],
                                              NarrowTile<kRows>& tile) {
    const v128_t mask = wasm_v128_load8_splat(opaque(&kNibble));
    I32Batch sums[kRows][2];  // of low and high nibbles
    for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = I32Batch(rows[r]->start);
    HEED_KEEP_LOOP
    for (int pair = 0; pair < kPairs; ++pair) {
      const v128_t both = wasm_v128_load(numbers + pair * Panel::kPairBytes);
      const v128_t low = wasm_v128_and(both, mask);
      const v128_t high = wasm_v128_and(wasm_u16x8_shr(both, 4), mask);
      for (int r = 0; r < kRows; ++r) {
        const v128_t row = wasm_v128_load32_splat(rows[r]->pairs + pair);
        sums[r][0] = wasm_i16x8_add(sums[r][0], wasm_i16x8_relaxed_dot_i8x16_i7x16(row, low));
        sums[r][1] = wasm_i16x8_add(sums[r][1], wasm_i16x8_relaxed_dot_i8x16_i7x16(row, high));
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        tile[r][2 * half] = wasm_i32x4_extend_low_i16x8(sums[r][half]);
        tile[r][2 * half + 1] = wasm_i32x4_extend_high_i16x8(sums[r][half]);
      }
    }
  }
};
#endif

}  // namespace heed::kernels
