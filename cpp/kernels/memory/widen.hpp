// Widens rows of K and V to f32: f16 exactly, int8 times its scale.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/memory/kv_rows.hpp"
#include "kernels/simd/i16.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// Widens f16, given by its bits in 32-bit words. It is exact, for subnormal numbers, infinity and NaN as well: a
/// normal number takes its bits along and another bias of the exponent.
inline Batch widen(I32Batch half) {
  const I32Batch magnitude = half & I32Batch(0x7FFF);
  const I32Batch shifted = magnitude << 13;
  const I32Batch rebias(112 << 23);  // 127 - 15, where f32 keeps its exponent
  // The exponent of infinity and NaN is 31 in f16 and 255 in f32: twice as much is added.
  const I32Batch exponent_bias = xsimd::select(magnitude >= I32Batch(0x7C00), rebias + rebias, rebias);
  // A subnormal f16 has no leading one. With the exponent of 2^-14 above its bits it has one, and 2^-14, which that one
  // counts, is subtracted again. Its bits alone would be a subnormal of f32, which some machines are slow at.
  const I32Batch least(113 << 23);
  const Batch tiny = xsimd::bitwise_cast<float>(shifted + least) - xsimd::bitwise_cast<float>(least);
  const I32Batch bits =
      xsimd::select(magnitude < I32Batch(0x0400), xsimd::bitwise_cast<std::int32_t>(tiny), shifted + exponent_bias);
  return xsimd::bitwise_cast<float>(bits | ((half & I32Batch(0x8000)) << 16));
}

/// As load_some(), of f16.
[[gnu::noinline]] inline Batch load_some_f16(const std::uint16_t* source, int count) {
  alignas(kScratchAlignment) std::int32_t words[kLanes] = {};
  if (count == kLanes) {
    for (int i = 0; i < kLanes; ++i) words[i] = source[i];
  } else {
    for (int i = 0; i < count; ++i) words[i] = source[i];
  }
  return widen(I32Batch::load_aligned(words));
}

/// As load_some(), of int8 times its scale.
[[gnu::noinline]] inline Batch load_some_i8(KvRow row, int first, int count) {
  alignas(kScratchAlignment) float numbers[kLanes] = {};
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>(row.i8_at(first + i)) * *row.scale;
  return Batch::load_aligned(numbers);
}

/// Widens as many numbers of an int8 row as are in whole eights, and returns how many.
inline int widen_i8_row(const KvRow& row, int length, float* target) {
  int i = 0;
  for (; i + 8 <= length; i += 8) {
    const std::int8_t* const own = row.i8() + i8_number_offset(row.dtype, i);
    if (row.dtype == DType::i8_keys) {
      widen_pairs_x8(own, kI8PairBytes, *row.scale, target + i);
    } else {
      widen_every_other_x8(own, *row.scale, target + i);
    }
  }
  return i;
}

/// Loads `count` (at most a vector) numbers of a row from its `first` on, widened; the other lanes are zero.
inline Batch load_widened(KvRow row, std::ptrdiff_t first, int count) {
  if (row.is_int8()) return load_some_i8(row, static_cast<int>(first), count);
  if (row.dtype == DType::f16) return load_some_f16(row.f16() + first, count);
  return load_some(row.f32() + first, count);
}

/// The largest of magnitudes, compared as whole numbers: floats without a sign have their order, with NaN at the end.
[[gnu::noinline]] inline float largest_of_lanes(I32Batch magnitudes) {
  return std::bit_cast<float>(xsimd::reduce_max(magnitudes));
}

/// The magnitudes of numbers, to be compared so.
inline I32Batch magnitudes_of(Batch numbers) { return xsimd::bitwise_cast<std::int32_t>(xsimd::abs(numbers)); }

/// The largest magnitude of numbers in whole vectors, NaN if there is one.
[[gnu::noinline]] inline float largest_magnitude(const float* numbers, int count) {
  I32Batch largest(0);
  for (int i = 0; i < count; i += kLanes) {
    largest = xsimd::max(largest, magnitudes_of(Batch::load_unaligned(numbers + i)));
  }
  return largest_of_lanes(largest);
}

/// What F16Widener gives is to be multiplied with this.
inline constexpr float kF16Bias = 0x1p112F;

struct F16Constants {
  std::int32_t kept = static_cast<std::int32_t>(0x8FFFE000U);
  std::int32_t raising = 1 << 13;
  float bias = kF16Bias;
};

inline constexpr F16Constants kF16Constants{};

/// Widens kPanel f16 numbers that are finite: the bits of one, moved to where f32 has them, are its number times
/// 2^-112. Holds its constants: make one before a loop.
class F16Widener {
 public:
  F16Widener() : F16Widener(opaque(&kF16Constants)) {}

  /// Widens without the bias. The lower half of a 32-bit word is raised by 13 bits as a product, with its sign in
  /// front; the upper half comes down by 3. What is there beside it is cut off.
  [[gnu::always_inline]] EvenOdd operator()(const std::uint16_t* numbers) const {
    const I32Batch bits = load_u16(numbers);
    return {xsimd::bitwise_cast<float>(multiply_low_i16(bits, raising_) & kept_),
            xsimd::bitwise_cast<float>((bits >> 3) & kept_)};
  }
  [[nodiscard]] Batch bias() const { return bias_; }

 private:
  explicit F16Widener(const F16Constants* c) : kept_(c->kept), raising_(c->raising), bias_(c->bias) {}

  I32Batch kept_, raising_;
  Batch bias_;
};

/// Whether f16 rows of whole panels are finite.
inline bool is_f16_finite(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length) {
  const I16Batch magnitude(0x7FFF);
  I16Batch largest(0);
  for (int row = 0; row < count; ++row, source += stride) {
    const auto* const numbers = reinterpret_cast<const std::int16_t*>(source);
    for (int i = 0; i < length; i += kPanel) {
      largest = xsimd::max(largest, I16Batch::load_unaligned(numbers + i) & magnitude);
    }
  }
  return !xsimd::any(largest >= I16Batch(0x7C00));
}

/// Widens f16 rows of whole panels that are finite.
inline void widen_finite_rows(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length,
                              float* target) {
  const F16Widener widen;
  for (int row = 0; row < count; ++row, source += stride, target += length) {
    for (int i = 0; i < length; i += kPanel) {
      const EvenOdd numbers = widen(source + i);
      interleave({numbers.even * widen.bias(), numbers.odd * widen.bias()}, target + i);
    }
  }
}

/// Widens rows [first, first + count), which are in one page if in any, of `length` numbers, one after the other.
[[gnu::noinline]] inline void widen_rows(const KvRows& rows, int first, int count, int length, float* target) {
  const std::uint16_t* const f16 = row_of(rows, first).f16();
  if (rows.dtype == DType::f16 && length % kPanel == 0 && is_f16_finite(f16, rows.stride, count, length)) {
    widen_finite_rows(f16, rows.stride, count, length, target);
    return;
  }
  for (int row = 0; row < count; ++row) {
    const KvRow source = row_of(rows, first + row);
    int i = source.is_int8() ? widen_i8_row(source, length, target) : 0;
    for (; i < length; i += kLanes) {
      const int some = length - i < kLanes ? length - i : kLanes;
      store_some(load_widened(source, i, some), target + i, some);
    }
    target += length;
  }
}

}  // namespace heed::kernels
