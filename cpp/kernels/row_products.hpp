// The two products of attention for a single row: its query with keys, and its weights with values. Head
// dimensions lie in lanes. Memory is what such a row waits for, so keys and values are read in the order in
// which they lie, line after line: two keys at a time would be fewer instructions, but read from memory they
// came at half the rate, four at a third (2 x 16 MB, 128 dimensions).
#pragma once

#include <cstddef>

#include "kernels/transpose.hpp"

namespace heed::kernels {

/// Partial sums of one dot product, so that they need not wait for each other.
inline constexpr int kDotSums = 4;

/// A query against a run of keys.
struct DotInput {
  const float* query;  // aligned, zeros up to a whole vector
  int head_dim;
  const float* key;
  std::ptrdiff_t stride;
  int count;  // at least 1
};

/// A dot product whose lanes are still to be summed.
template <class Arch>
[[gnu::always_inline]] inline Batch<Arch> dot(const DotInput& input, const float* key) {
  constexpr int lanes = kLanes<Arch>;
  constexpr std::ptrdiff_t next = lanes;
  Batch<Arch> sums[kDotSums];
  for (Batch<Arch>& sum : sums) sum = Batch<Arch>(0.0F);
  int d = 0;
  for (; d + kDotSums * lanes <= input.head_dim; d += kDotSums * lanes) {
    for (int s = 0; s < kDotSums; ++s) {
      const Batch<Arch> query = Batch<Arch>::load_aligned(input.query + d + s * next);
      sums[s] = multiply_add<Arch>(Batch<Arch>::load_unaligned(key + d + s * next), query, sums[s]);
    }
  }
  for (; d < input.head_dim; d += lanes) {
    const int count = input.head_dim - d < lanes ? input.head_dim - d : lanes;
    sums[0] = multiply_add<Arch>(load_some<Arch>(key + d, count), Batch<Arch>::load_aligned(input.query + d), sums[0]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// A vector of scores; where the keys run out, those of the last one.
template <class Arch>
[[gnu::noinline]] void score_vector(const DotInput& input, float* scores) {
  constexpr int lanes = kLanes<Arch>;
  Batch<Arch> square[lanes];
  for (int j = 0; j < lanes; ++j) {
    square[j] = dot<Arch>(input, input.key + (j < input.count ? j : input.count - 1) * input.stride);
  }
  xsimd::transpose(square, square + lanes);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) square[j] += square[j + half];
  }
  square[0].store_aligned(scores);
}

/// A row's weights against a run of values.
struct RowValues {
  const float* weights;
  int count;
  const float* value;
  std::ptrdiff_t stride;
};

/// output[value_dim] += weights x values; output is aligned, with room up to a whole vector. With kSelect a
/// weight of zero leaves its value out, whatever it is.
template <class Arch, bool kSelect>
[[gnu::noinline]] void add_row_values(const RowValues& input, int value_dim, float* output) {
  constexpr int lanes = kLanes<Arch>;
  const int whole = value_dim / lanes * lanes;
  const float* value = input.value;
  for (int j = 0; j < input.count; ++j, value += input.stride) {
    if (kSelect && input.weights[j] == 0.0F) continue;
    const Batch<Arch> weight = Batch<Arch>::broadcast(input.weights[j]);
    for (int e = 0; e < whole; e += lanes) {
      const Batch<Arch> sum = Batch<Arch>::load_aligned(output + e);
      multiply_add<Arch>(weight, Batch<Arch>::load_unaligned(value + e), sum).store_aligned(output + e);
    }
    if (whole == value_dim) continue;
    const Batch<Arch> sum = Batch<Arch>::load_aligned(output + whole);
    multiply_add<Arch>(weight, load_some<Arch>(value + whole, value_dim - whole), sum).store_aligned(output + whole);
  }
}

/// output[value_dim] *= factor, in whole vectors.
template <class Arch>
inline void scale_output(Batch<Arch> factor, int value_dim, float* output) {
  for (int e = 0; e < value_dim; e += kLanes<Arch>) {
    (Batch<Arch>::load_aligned(output + e) * factor).store_aligned(output + e);
  }
}

}  // namespace heed::kernels
