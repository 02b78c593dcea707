// Rounds a row of activations to whole numbers, a group of 32 by itself: to 14 bits for int8 weights, to 8 for those of
// 4 bits. Then products are sums of whole numbers, which are exact on every machine.
#pragma once

#include <limits>

#include "kernels/memory/widen.hpp"
#include "kernels/narrow/quantized_group.hpp"

namespace heed::kernels {

/// The largest numbers: 32 products of 14 bits with int8 are below 2^25, those of 8 bits with nibbles less 8 below
/// 2^15.
constexpr float largest_activation(WeightFormat format) { return format == WeightFormat::int8 ? 8191.0F : 127.0F; }

/// A group smaller than this is taken for zeros: the inverse of its scale would be infinite.
inline constexpr float kLeastGroup = 0x1p-100F;

/// Added to a number below 2^22, it leaves the nearest whole number in the low bits, ties to even.
inline constexpr float kRounder = 12582912.0F;

/// Writes `pairs` of 16 bits, and returns the sum of all numbers.
inline std::int32_t round_group(const float* numbers, Batch inverse, std::int32_t* pairs) {
  I32Batch sum(0);
  for (int i = 0; i < kGroup; i += kPanel) {
    I32Batch whole[kPanelVectors];
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch rounded = Batch::load_unaligned(numbers + i + vector * kLanes) * inverse + Batch(kRounder);
      // NaN, of infinity times 0, has other low bits, which are cut off.
      whole[vector] = (xsimd::bitwise_cast<std::int32_t>(rounded) << 16) >> 16;
      sum += whole[vector];
    }
    store_low_i16(whole[0], whole[1], reinterpret_cast<std::int16_t*>(pairs + i / 2));
  }
  return xsimd::reduce_add(sum);
}

/// Pairs of 16 bits, which hold 8, become pairs of 8 bits, twice.
inline void repeat_pairs(std::int32_t* pairs) {
  for (int i = 0; i < kPairs; ++i) {
    const auto bits = static_cast<std::uint32_t>(pairs[i]);
    pairs[i] = static_cast<std::int32_t>(((bits & 0xFFU) | (bits >> 8U & 0xFF00U)) * 0x10001U);
  }
}

std::ptrdiff_t quantized_bytes(WeightFormat format, std::ptrdiff_t inputs) {
  return is_half(format) ? 0 : inputs / kGroup * static_cast<std::ptrdiff_t>(sizeof(QuantizedGroup));
}

void quantize_row(WeightFormat format, const float* row, std::ptrdiff_t inputs, std::uint8_t* quantized) {
  auto* group = reinterpret_cast<QuantizedGroup*>(quantized);
  const float most = largest_activation(format);
  const bool is_int8 = format == WeightFormat::int8;
  const bool is_relaxed = !is_int8 && has_relaxed_dot();
  for (std::ptrdiff_t first = 0; first < inputs; first += kGroup, ++group) {
    const float largest = largest_magnitude(row + first, kGroup);
    // A group that is not finite has NaN for a scale, which its row becomes.
    const bool is_finite = largest < std::numeric_limits<float>::infinity();
    const bool is_zero = largest < kLeastGroup;
    group->scale = !is_finite ? std::numeric_limits<float>::quiet_NaN() : is_zero ? 0.0F : largest / most;
    const std::int32_t sum =
        round_group(row + first, Batch(is_finite && !is_zero ? most / largest : 0.0F), group->pairs);
    group->sum = static_cast<float>(sum);
    group->start = is_int8 ? 0 : -8 * sum;
    if (is_relaxed) {
      group->start = static_cast<std::int32_t>((static_cast<std::uint32_t>(group->start) & 0xFFFFU) * 0x10001U);
      repeat_pairs(group->pairs);
    }
  }
}

}  // namespace heed::kernels
