// LayerNorm and RMSNorm of rows: the mean first, then the squares of the differences to it.
#pragma once

#include <cmath>

#include "kernels/row_blocks.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// The sum of transform(x) over a row. `transform` gives zero for lanes beyond its end.
template <class Arch, class Transform>
[[gnu::always_inline]] inline float sum_of_row(const float* row, int length, Transform transform) {
  constexpr int lanes = kLanes<Arch>;
  constexpr int ways = 4;  // sums that do not wait for each other
  Batch<Arch> sums[ways];
  for (Batch<Arch>& sum : sums) sum = Batch<Arch>(0.0F);
  int i = 0;
  for (; i + ways * lanes <= length; i += ways * lanes) {
    for (int way = 0; way < ways; ++way)
      sums[way] += transform(Batch<Arch>::load_unaligned(row + i + way * lanes), lanes);
  }
  for (; i < length; i += lanes) {
    const int count = length - i < lanes ? length - i : lanes;
    sums[0] += transform(load_some<Arch>(row + i, count), count);
  }
  return xsimd::reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/// `batch`, with zeros from lane `count` on.
template <class Arch>
inline Batch<Arch> first_lanes(Batch<Arch> batch, int count) {
  if (count == kLanes<Arch>) return batch;
  alignas(kScratchAlignment) float numbers[kLanes<Arch>];
  batch.store_aligned(numbers);
  for (int lane = count; lane < kLanes<Arch>; ++lane) numbers[lane] = 0.0F;
  return Batch<Arch>::load_aligned(numbers);
}

/// Of numbers that were multiplied by `scale`.
struct Moments {
  float mean;
  float variance;
};

template <class Arch>
inline Moments moments_of(const float* row, int length, bool is_centred, float scale) {
  const Batch<Arch> factor(scale);
  const auto count = static_cast<float>(length);
  Moments moments{0.0F, 0.0F};
  if (is_centred) {
    moments.mean = sum_of_row<Arch>(row, length, [&](Batch<Arch> x, int) { return x * factor; }) / count;
  }
  const Batch<Arch> mean(moments.mean);
  moments.variance = sum_of_row<Arch>(row, length,
                                      [&](Batch<Arch> x, int some) {
                                        const Batch<Arch> difference =
                                            first_lanes<Arch>(multiply_add<Arch>(x, factor, -mean), some);
                                        return difference * difference;
                                      }) /
                     count;
  return moments;
}

/// A power of two that brings the largest number of a row near 1; 1 where there is nothing to bring.
template <class Arch>
inline float scale_of(const float* row, int length) {
  Batch<Arch> largest(0.0F);
  for (int i = 0; i < length; i += kLanes<Arch>) {
    const int count = length - i < kLanes<Arch> ? length - i : kLanes<Arch>;
    largest = at_least<Arch>(xsimd::abs(load_some<Arch>(row + i, count)), largest);
  }
  const float most = xsimd::reduce_max(largest);
  if (!(most > 0.0F) || !std::isfinite(most)) return 1.0F;
  int exponent = 0;
  std::frexp(most, &exponent);
  return std::ldexp(1.0F, exponent < -125 ? 125 : -exponent);
}

/// Outside these, squares may have overflowed, or lost digits to denormal numbers.
inline constexpr float kSmallVariance = 1e-24F;
inline constexpr float kLargeVariance = 1e36F;

/// See LayerKernels.
template <class Arch>
void normalize_row(const NormBlock& block, int index) {
  const float* const row = block.source + index * block.source_stride;
  float* const target = block.target + index * block.target_stride;
  float scale = 1.0F;
  Moments moments = moments_of<Arch>(row, block.length, block.is_centred, scale);
  if (!(moments.variance > kSmallVariance && moments.variance < kLargeVariance)) {
    scale = scale_of<Arch>(row, block.length);
    if (scale != 1.0F) moments = moments_of<Arch>(row, block.length, block.is_centred, scale);
  }
  // In double precision, whose range has room for the scale's square.
  const double wide = scale;
  const double deviation =
      std::sqrt(static_cast<double>(moments.variance) + static_cast<double>(block.epsilon) * wide * wide);
  const Batch<Arch> factor(static_cast<float>(1.0 / deviation));
  const Batch<Arch> mean(moments.mean);
  const Batch<Arch> to_scale(scale);
  for (int i = 0; i < block.length; i += kLanes<Arch>) {
    const int count = block.length - i < kLanes<Arch> ? block.length - i : kLanes<Arch>;
    Batch<Arch> number = multiply_add<Arch>(load_some<Arch>(row + i, count), to_scale, -mean) * factor;
    if (block.weight != nullptr) number *= load_some<Arch>(block.weight + i, count);
    if (block.bias != nullptr) number += load_some<Arch>(block.bias + i, count);
    store_some<Arch>(number, target + i, count);
  }
  if (block.mean != nullptr) block.mean[index] = moments.mean / scale;
  if (block.inverse_deviation != nullptr) {
    block.inverse_deviation[index] = static_cast<float>(wide / deviation);
  }
}

template <class Arch>
void normalize_rows(const NormBlock& block) {
  for (int index = 0; index < block.row_count; ++index) normalize_row<Arch>(block, index);
}

}  // namespace heed::kernels
