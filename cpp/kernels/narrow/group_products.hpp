// The products of a few quantized rows with one group of a packed panel: exact sums of whole numbers, scaled and added
// to f32 sums in one fixed order, by multiplications and additions that no machine fuses.
#pragma once

#include "kernels/narrow/quantize_rows.hpp"
#include "kernels/simd/dot_i16.hpp"

namespace heed::kernels {

inline constexpr int kNarrowVectors = kNarrowPanel / kLanes;

template <int kRows>
using NarrowTile = I32Batch[kRows][kNarrowVectors];

/// int8: 14 bits against 8.
struct Int8Products {
  using Panel = Int8Panel;
  using Activations = Group16;
  /// Three rows of four vectors fill the registers.
  static constexpr int kMostRows = 3;

  template <int kRows>
  [[gnu::always_inline]] static void multiply(const std::uint8_t* numbers, const Activations* const (&rows)[kRows],
                                              NarrowTile<kRows>& tile) {
    for (auto& row : tile)
      for (auto& sums : row) sums = I32Batch(0);
    HEED_UNROLL_LOOP
    for (int pair = 0; pair < kPairs; ++pair) {
      I32Batch both[kRows];
      for (int r = 0; r < kRows; ++r) both[r] = broadcast_pair(rows[r]->numbers + 2 * pair);
      for (int v = 0; v < kNarrowVectors; ++v) {
        const I32Batch weights = load_i8_pairs(numbers + pair * Panel::kPairBytes + v * 2 * kLanes);
        for (int r = 0; r < kRows; ++r) tile[r][v] += dot_i16(weights, both[r]);
      }
    }
  }
  /// The sum of products with the numbers that are stored, in units of both scales.
  static Batch sum_of(I32Batch products, const float* /*offsets*/, Batch scales, const Activations& /*row*/) {
    return xsimd::to_float(products) * scales;
  }
};

/// 4 bits without sign against 8, by the same instructions.
struct Int4Products {
  using Panel = Int4Panel;
  using Activations = Group8;
  static constexpr int kMostRows = 3;

  template <int kRows>
  [[gnu::always_inline]] static void multiply(const std::uint8_t* numbers, const Activations* const (&rows)[kRows],
                                              NarrowTile<kRows>& tile) {
    for (auto& row : tile)
      for (auto& sums : row) sums = I32Batch(0);
    HEED_UNROLL_LOOP
    for (int pair = 0; pair < kPairs; ++pair) {
      I32Batch both[kRows];
      for (int r = 0; r < kRows; ++r) both[r] = broadcast_i8_pair(rows[r]->numbers + 2 * pair);
      for (int v = 0; v < kNarrowVectors; ++v) {
        const I32Batch weights = load_nibble_pairs(numbers + pair * Panel::kPairBytes, v);
        for (int r = 0; r < kRows; ++r) tile[r][v] += dot_i16(weights, both[r]);
      }
    }
  }
  static Batch sum_of(I32Batch products, const float* /*offsets*/, Batch scales, const Activations& row) {
    return (xsimd::to_float(products) - Batch(8.0F * row.sum)) * scales;
  }
};

#ifdef __wasm_relaxed_simd__
inline constexpr std::uint8_t kNibble = 15;

/// The same by relaxed dot products, whose second operand has at most 7 bits: nibbles have 4. Whatever instruction an
/// engine takes for them, no pair of products is beyond 3,810 and eight pairs are below 2^15, so the sums are the same.
struct RelaxedInt4Products : Int4Products {
  template <int kRows>
  [[gnu::always_inline]] static void multiply(const std::uint8_t* numbers, const Activations* const (&rows)[kRows],
                                              NarrowTile<kRows>& tile) {
    const v128_t mask = wasm_v128_load8_splat(opaque(&kNibble));
    v128_t sums[2][kRows][2];  // of the first and second half of the group, of low and high nibbles
    for (int half = 0; half < 2; ++half) {
      for (int r = 0; r < kRows; ++r) sums[half][r][0] = sums[half][r][1] = wasm_i16x8_const_splat(0);
      HEED_UNROLL_LOOP
      for (int pair = half * kPairs / 2; pair < (half + 1) * kPairs / 2; ++pair) {
        const v128_t both = wasm_v128_load(numbers + pair * Panel::kPairBytes);
        const v128_t low = wasm_v128_and(both, mask);
        const v128_t high = wasm_v128_and(wasm_u16x8_shr(both, 4), mask);
        for (int r = 0; r < kRows; ++r) {
          const v128_t row = wasm_v128_load16_splat(rows[r]->numbers + 2 * pair);
          sums[half][r][0] = wasm_i16x8_add(sums[half][r][0], wasm_i16x8_relaxed_dot_i8x16_i7x16(row, low));
          sums[half][r][1] = wasm_i16x8_add(sums[half][r][1], wasm_i16x8_relaxed_dot_i8x16_i7x16(row, high));
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < 2; ++v) {
        const v128_t first = sums[0][r][v], second = sums[1][r][v];
        tile[r][2 * v] = wasm_i32x4_add(wasm_i32x4_extend_low_i16x8(first), wasm_i32x4_extend_low_i16x8(second));
        tile[r][2 * v + 1] = wasm_i32x4_add(wasm_i32x4_extend_high_i16x8(first), wasm_i32x4_extend_high_i16x8(second));
      }
    }
  }
};

inline constexpr std::int8_t kProbedRow[] = {-127, 127, -1, 1, 127, 127, -127, -127, 5, -3, 0, 1, 1, 0, -128, 127};
inline constexpr std::int8_t kProbedNibbles[] = {15, 15, 1, 15, 15, 15, 15, 15, 7, 2, 15, 0, 3, 15, 15, 15};

/// Whether the engine's relaxed dot product is one: an old engine's is twice the sum.
inline bool has_relaxed_dot() {
  const v128_t row = wasm_v128_load(opaque(kProbedRow)), nibbles = wasm_v128_load(opaque(kProbedNibbles));
  const v128_t dots = wasm_i16x8_relaxed_dot_i8x16_i7x16(row, nibbles);
  return wasm_i16x8_all_true(wasm_i16x8_eq(dots, wasm_i16x8_const(0, 14, 3810, -3810, 29, 0, 3, -15)));
}
#endif

/// With an offset for each output.
template <class Products>
struct WithOffsets : Products {
  using Panel = Int4MinPanel;

  static Batch sum_of(I32Batch products, const float* offsets, Batch scales,
                      const typename Products::Activations& row) {
    return xsimd::to_float(products) * scales + Batch::load_unaligned(offsets) * Batch(row.sum);
  }
};

}  // namespace heed::kernels
