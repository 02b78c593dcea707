// How long vectors are, for scores that do not go by it.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/half.hpp"

namespace heed::kernels {

/// A power of two that brings `size`, a normal number, near 1.
inline float power_near_inverse(float size) {
  constexpr std::uint32_t exponent_bits = 0x7F800000U;
  constexpr std::uint32_t largest = 252U << 23U;  // whose inverse is a normal number still
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(size) & exponent_bits;
  return std::bit_cast<float>((254U << 23U) - (exponent < largest ? exponent : largest));
}

/// Squares are taken of numbers near 1, so that none overflows, and none is lost that counts.
template <class Arch>
inline float inverse_length(Numbers line, int dim) {
  const auto visit = [&](auto with) {
    for (int i = 0; i < dim; i += kLanes<Arch>) {
      with(load_numbers<Arch>(line, i, dim - i < kLanes<Arch> ? dim - i : kLanes<Arch>));
    }
  };
  Batch<Arch> largest(0.0F);
  visit([&](Batch<Arch> numbers) { largest = xsimd::max(largest, xsimd::abs(numbers)); });
  const float size = xsimd::reduce_max(largest);
  if (size < std::numeric_limits<float>::min()) return 0.0F;
  const float factor = power_near_inverse(size);
  Batch<Arch> squares(0.0F);
  visit([&](Batch<Arch> numbers) {
    const Batch<Arch> scaled = numbers * Batch<Arch>(factor);
    squares = multiply_add<Arch>(scaled, scaled, squares);
  });
  return factor / std::sqrt(xsimd::reduce_add(squares));
}

/// See AttentionKernels.
template <class Arch>
void invert_lengths(const SourceRow* rows, int count, int dim) {
  for (int index = 0; index < count; ++index) *rows[index].target = inverse_length<Arch>(rows[index].source, dim);
}

}  // namespace heed::kernels
