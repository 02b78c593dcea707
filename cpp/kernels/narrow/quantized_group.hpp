// A group of 32 activations in whole numbers, as the products take it.
#pragma once

#include <cstdint>

#include "kernels/narrow/narrow_tasks.hpp"
#include "kernels/simd/dot_i16.hpp"

namespace heed::kernels {

/// The pairs of inputs of a group.
inline constexpr int kPairs = kGroup / 2;

struct QuantizedGroup {
  float scale;
  float sum;                   // of the numbers
  std::int32_t start;          // what sums of products begin with: 8 is subtracted from nibbles
  std::int32_t pairs[kPairs];  // two numbers of 16 bits, or, for relaxed dot products, of 8 bits, twice
};

#ifdef __wasm_relaxed_simd__
inline constexpr std::int8_t kProbedRow[] = {-127, 127, -1, 1, 127, 127, -127, -127, 5, -3, 0, 1, 1, 0, -128, 127};
inline constexpr std::int8_t kProbedNibbles[] = {15, 15, 1, 15, 15, 15, 15, 15, 7, 2, 15, 0, 3, 15, 15, 15};

/// Whether the engine's relaxed dot product is one: an old engine's is twice the sum.
inline bool has_relaxed_dot() {
  const v128_t row = wasm_v128_load(opaque(kProbedRow)), nibbles = wasm_v128_load(opaque(kProbedNibbles));
  const v128_t dots = wasm_i16x8_relaxed_dot_i8x16_i7x16(row, nibbles);
  return wasm_i16x8_all_true(wasm_i16x8_eq(dots, wasm_i16x8_const(0, 14, 3810, -3810, 29, 0, 3, -15)));
}
#else
constexpr bool has_relaxed_dot() { return false; }
#endif

}  // namespace heed::kernels
