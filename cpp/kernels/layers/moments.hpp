// The moments of rows that norms need: the mean first, then the squares of the differences to it.
#pragma once

#include <cmath>

#include "kernels/layers/layer_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// The sum of transform(x) over a row. `transform` gives zero for lanes beyond its end.
template <class Transform>
[[gnu::always_inline]] inline float sum_of_row(const float* row, int length, Transform transform) {
  constexpr int lanes = kLanes;
  constexpr int accumulators = 4;  // sums that do not wait for each other
  Batch sums[accumulators];
  for (Batch& sum : sums) sum = Batch(0.0F);
  int i = 0;
  for (; i + accumulators * lanes <= length; i += accumulators * lanes) {
    for (int a = 0; a < accumulators; ++a) sums[a] += transform(Batch::load_unaligned(row + i + a * lanes), lanes);
  }
  for (; i < length; i += lanes) {
    const int count = length - i < lanes ? length - i : lanes;
    sums[0] += transform(load_some(row + i, count), count);
  }
  return xsimd::reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/// `batch`, with zeros from lane `count` on.
inline Batch first_lanes(Batch batch, int count) {
  if (count == kLanes) return batch;
  alignas(kScratchAlignment) float numbers[kLanes];
  batch.store_aligned(numbers);
  for (int lane = count; lane < kLanes; ++lane) numbers[lane] = 0.0F;
  return Batch::load_aligned(numbers);
}

/// The moments of numbers that were multiplied by `scale`.
struct Moments {
  float mean;
  float variance;
};

inline Moments moments_of(const float* row, int length, bool is_centred, float scale) {
  const Batch factor(scale);
  const auto count = static_cast<float>(length);
  Moments moments{0.0F, 0.0F};
  if (is_centred) {
    moments.mean = sum_of_row(row, length, [&](Batch x, int) { return x * factor; }) / count;
  }
  const Batch mean(moments.mean);
  moments.variance = sum_of_row(row, length,
                                [&](Batch x, int some) {
                                  const Batch difference = first_lanes(multiply_add(x, factor, -mean), some);
                                  return difference * difference;
                                }) /
                     count;
  return moments;
}

/// A power of two that brings the largest number of a row near 1; 1 where there is nothing to bring.
inline float scale_of(const float* row, int length) {
  Batch largest(0.0F);
  for (int i = 0; i < length; i += kLanes) {
    const int count = length - i < kLanes ? length - i : kLanes;
    largest = at_least(xsimd::abs(load_some(row + i, count)), largest);
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

/// A number x of a row is normalized to (x * scale - mean) * factor.
struct RowMoments {
  float scale;
  float mean;
  float factor;
};

inline RowMoments exact_moments(const NormTask& task, const float* row) {
  float scale = 1.0F;
  Moments moments = moments_of(row, task.length, task.is_centred, scale);
  const bool is_exact = moments.variance > kSmallVariance && moments.variance < kLargeVariance;
  if (!is_exact) {
    scale = scale_of(row, task.length);
    if (scale != 1.0F) moments = moments_of(row, task.length, task.is_centred, scale);
  }
  // In double precision, whose range has room for the scale's square.
  const double wide = scale;
  const double deviation =
      std::sqrt(static_cast<double>(moments.variance) + static_cast<double>(task.epsilon) * wide * wide);
  return {scale, moments.mean, static_cast<float>(1.0 / deviation)};
}

}  // namespace heed::kernels
