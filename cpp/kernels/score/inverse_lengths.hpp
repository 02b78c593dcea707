// Inverse lengths of rows, for cosine scores.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/memory/widen.hpp"

namespace heed::kernels {

/// A power of two that brings `size`, a normal number, near 1.
inline float power_near_inverse(float size) {
  constexpr std::uint32_t exponent_bits = 0x7F800000U;
  constexpr std::uint32_t largest = 252U << 23U;  // whose inverse is a normal number still
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(size) & exponent_bits;
  return std::bit_cast<float>((254U << 23U) - (exponent < largest ? exponent : largest));
}

/// Squares are taken of numbers near 1, so that none overflows, and none that counts is lost.
inline float inverse_length(KvRow row, int dim) {
  const auto visit = [&](auto with) {
    for (int i = 0; i < dim; i += kLanes) {
      with(load_widened(row, i, dim - i < kLanes ? dim - i : kLanes));
    }
  };
  Batch largest(0.0F);
  visit([&](Batch numbers) { largest = xsimd::max(largest, xsimd::abs(numbers)); });
  const float size = xsimd::reduce_max(largest);
  if (size < std::numeric_limits<float>::min()) return 0.0F;
  const float factor = power_near_inverse(size);
  Batch squares(0.0F);
  visit([&](Batch numbers) {
    const Batch scaled = numbers * Batch(factor);
    squares = multiply_add(scaled, scaled, squares);
  });
  return factor / std::sqrt(xsimd::reduce_add(squares));
}

void invert_lengths(const SourceRow* rows, int count, int dim) {
  for (int index = 0; index < count; ++index) *rows[index].target = inverse_length(rows[index].source, dim);
}

}  // namespace heed::kernels
