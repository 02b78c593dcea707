// Rounds a row of activations to whole numbers, a group of 32 by itself: to 14 bits for int8 weights, to 8 for those of
// 4 bits. Then products are sums of whole numbers, which are exact on every machine.
#pragma once

#include <limits>

#include "kernels/memory/widen.hpp"
#include "kernels/narrow/formats.hpp"

namespace heed::kernels {

/// 32 products with int8 are below 2^25.
struct Group16 {
  static constexpr float kLargest = 8191.0F;
  using Number = std::int16_t;

  float scale;
  float sum;  // of the numbers; not needed, but rows of both kinds are alike
  Number numbers[kGroup];
};

/// Eight pairs of products with 4 bits are below 2^15.
struct Group8 {
  static constexpr float kLargest = 127.0F;
  using Number = std::int8_t;

  float scale;
  float sum;
  Number numbers[kGroup];
};

/// A group smaller than this is taken for zeros: the inverse of its scale would be infinite.
inline constexpr float kLeastGroup = 0x1p-100F;

/// Added to a number below 2^22, it leaves the nearest whole number in the low bits, ties to even.
inline constexpr float kRounder = 12582912.0F;

template <class Quantized>
[[gnu::noinline]] void quantize_groups(const float* row, std::ptrdiff_t inputs, Quantized* groups) {
  for (std::ptrdiff_t first = 0; first < inputs; first += kGroup, ++groups) {
    const float largest = largest_magnitude(row + first, kGroup);
    // A group that is not finite has NaN for a scale, which its row becomes.
    const bool is_finite = largest < std::numeric_limits<float>::infinity();
    const bool is_zero = largest < kLeastGroup;
    groups->scale = !is_finite ? std::numeric_limits<float>::quiet_NaN()
                    : is_zero  ? 0.0F
                               : largest / Quantized::kLargest;
    const Batch inverse(is_finite && !is_zero ? Quantized::kLargest / largest : 0.0F);
    std::int32_t sum = 0;
    alignas(kScratchAlignment) std::int32_t numbers[kGroup];
    for (int i = 0; i < kGroup; i += kLanes) {
      const Batch rounded = Batch::load_unaligned(row + first + i) * inverse + Batch(kRounder);
      // NaN, of infinity times 0, has other low bits, which are cut off.
      const I32Batch whole = (xsimd::bitwise_cast<std::int32_t>(rounded) << 16) >> 16;
      whole.store_aligned(numbers + i);
    }
    for (int i = 0; i < kGroup; ++i) {
      groups->numbers[i] = static_cast<typename Quantized::Number>(numbers[i]);
      sum += groups->numbers[i];
    }
    groups->sum = static_cast<float>(sum);
  }
}

std::ptrdiff_t quantized_bytes(WeightFormat format, std::ptrdiff_t inputs) {
  if (is_half(format)) return 0;
  const std::size_t group = format == WeightFormat::int8 ? sizeof(Group16) : sizeof(Group8);
  return inputs / kGroup * static_cast<std::ptrdiff_t>(group);
}

void quantize_row(WeightFormat format, const float* row, std::ptrdiff_t inputs, std::uint8_t* quantized) {
  if (format == WeightFormat::int8) {
    quantize_groups(row, inputs, reinterpret_cast<Group16*>(quantized));
  } else {
    quantize_groups(row, inputs, reinterpret_cast<Group8*>(quantized));
  }
}

}  // namespace heed::kernels
