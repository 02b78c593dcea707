// Widens rows of K and V to f32: f16 exactly, int8 times its scale.
#pragma once

#include <cstdint>

#include "kernels/memory/kv_rows.hpp"
#include "kernels/simd/transpose.hpp"

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace heed::kernels {

/// Widens f16, given by its bits in 32-bit words. It is exact, for subnormal numbers, infinity and NaN as well: a
/// normal number takes its bits along and another bias of the exponent.
inline Batch widen(I32Batch half) {
  const I32Batch magnitude = half & I32Batch(0x7FFF);
  const I32Batch shifted = magnitude << 13;
  const I32Batch rebias(112 << 23);  // 127 - 15, where single precision keeps its exponent
  const I32Batch bent = xsimd::select(magnitude >= I32Batch(0x7C00), rebias + rebias, rebias);
  // A subnormal is the end of the significand of 2^-14, from which 2^-14 is subtracted; on its own it would be a
  // subnormal of f32 as well, which some machines are slow at.
  const I32Batch least(113 << 23);
  const Batch tiny = xsimd::bitwise_cast<float>(shifted + least) - xsimd::bitwise_cast<float>(least);
  const I32Batch bits =
      xsimd::select(magnitude < I32Batch(0x0400), xsimd::bitwise_cast<std::int32_t>(tiny), shifted + bent);
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
[[gnu::noinline]] inline Batch load_some_i8(KvRow line, int first, int count) {
  alignas(kScratchAlignment) float numbers[kLanes] = {};
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>(line.i8_at(first + i)) * *line.scale;
  return Batch::load_aligned(numbers);
}

#ifdef __wasm_simd128__
/// Loads eight numbers of an int8 row, from a multiple of eight on, as int16.
inline v128_t load_i8x8(const KvRow& row, int first) {
  if (row.dtype == DType::i8_keys) {
    const std::int8_t* const pairs = row.i8() + first / 2 * kI8PairBytes;
    v128_t four = wasm_v128_load16_lane(pairs, wasm_i32x4_const_splat(0), 0);
    four = wasm_v128_load16_lane(pairs + kI8PairBytes, four, 1);
    four = wasm_v128_load16_lane(pairs + 2 * kI8PairBytes, four, 2);
    return wasm_i16x8_extend_low_i8x16(wasm_v128_load16_lane(pairs + 3 * kI8PairBytes, four, 3));
  }
  // The numbers of the row are the lower or the upper bytes of 16-bit words, which start at even addresses.
  const std::int8_t* const own = row.i8() + i8_number_offset(row.dtype, first);
  const auto is_upper = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(own) % 2);
  return wasm_i16x8_shr(wasm_i16x8_shl(wasm_v128_load(own - is_upper), 8 - 8 * is_upper), 8);
}

/// Widens as many numbers of an int8 row as are in whole eights, and returns how many.
inline int widen_i8_row(const KvRow& row, int length, float* target) {
  const Batch scale(*row.scale);
  int i = 0;
  for (; i + 8 <= length; i += 8) {
    const v128_t eight = load_i8x8(row, i);
    const auto store = [&](v128_t four, float* address) {
      (Batch(wasm_f32x4_convert_i32x4(four)) * scale).store_unaligned(address);
    };
    store(wasm_i32x4_extend_low_i16x8(eight), target + i);
    store(wasm_i32x4_extend_high_i16x8(eight), target + i + 4);
  }
  return i;
}
#endif

/// Loads `count` (at most a vector) numbers of a row from its `first` on, widened; the other lanes are zero.
inline Batch load_widened(KvRow line, std::ptrdiff_t first, int count) {
  if (line.is_int8()) return load_some_i8(line, static_cast<int>(first), count);
  if (line.dtype == DType::f16) return load_some_f16(line.f16() + first, count);
  return load_some(line.f32() + first, count);
}

#ifdef __wasm_simd128__
/// Compares as whole numbers, whose order floats without a sign have, with NaN at the end.
[[gnu::noinline]] inline float largest_of_lanes(v128_t sizes) {
  sizes = wasm_i32x4_max(sizes, wasm_i32x4_shuffle(sizes, sizes, 2, 3, 0, 1));
  sizes = wasm_i32x4_max(sizes, wasm_i32x4_shuffle(sizes, sizes, 1, 0, 3, 2));
  return wasm_f32x4_extract_lane(sizes, 0);
}

/// The largest magnitude of numbers in whole fours, NaN if there is one.
[[gnu::noinline]] inline float largest_magnitude(const float* numbers, int count) {
  v128_t sizes = wasm_i32x4_const_splat(0);
  for (int i = 0; i < count; i += 4) sizes = wasm_i32x4_max(sizes, wasm_f32x4_abs(wasm_v128_load(numbers + i)));
  return largest_of_lanes(sizes);
}

/// What F16Widener gives is to be multiplied with this.
inline constexpr float kF16Bias = 0x1p112F;

struct F16Constants {
  std::uint32_t kept[4] = {0x8FFFE000, 0x8FFFE000, 0x8FFFE000, 0x8FFFE000};
  std::int16_t raising[8] = {0x2000, 0, 0x2000, 0, 0x2000, 0, 0x2000, 0};
  float bias[4] = {kF16Bias, kF16Bias, kF16Bias, kF16Bias};
};

inline constexpr F16Constants kF16Constants{};

/// Widens eight f16 numbers that are finite: the bits of one, moved to where f32 has them, are its number times 2^-112.
/// Holds its constants: make one before a loop.
class F16Widener {
 public:
  F16Widener() : F16Widener(opaque(&kF16Constants)) {}

  /// Of numbers 0 to 7 those with even and those with odd indices.
  struct Eight {
    Batch even, odd;
  };

  /// Widens without the bias. The lower half of a 32-bit word is raised by 13 bits as a product, with its sign in
  /// front; the upper half comes down by 3. What is there beside it is cut off.
  [[gnu::always_inline]] Eight operator()(const std::uint16_t* halves) const {
    const v128_t bits = wasm_v128_load(halves);
    return {wasm_v128_and(wasm_i32x4_dot_i16x8(bits, raising_), kept_), wasm_v128_and(wasm_i32x4_shr(bits, 3), kept_)};
  }
  [[nodiscard]] Batch bias() const { return bias_; }

 private:
  explicit F16Widener(const F16Constants* c)
      : kept_(wasm_v128_load(c->kept)), raising_(wasm_v128_load(c->raising)), bias_(wasm_v128_load(c->bias)) {}

  v128_t kept_, raising_, bias_;
};

/// Stores eight numbers from those with even and those with odd indices.
[[gnu::always_inline]] inline void interleave_x8(v128_t even, v128_t odd, float* eight) {
  wasm_v128_store(eight, wasm_i32x4_shuffle(even, odd, 0, 4, 1, 5));
  wasm_v128_store(eight + 4, wasm_i32x4_shuffle(even, odd, 2, 6, 3, 7));
}

/// Whether f16 rows of whole eights are finite.
inline bool is_f16_finite(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length) {
  const v128_t size = wasm_i16x8_const_splat(0x7FFF);
  v128_t largest = wasm_i16x8_const_splat(0);
  for (int line = 0; line < count; ++line, source += stride) {
    for (int i = 0; i < length; i += 8) {
      largest = wasm_i16x8_max(largest, wasm_v128_and(wasm_v128_load(source + i), size));
    }
  }
  return !wasm_v128_any_true(wasm_i16x8_ge(largest, wasm_i16x8_const_splat(0x7C00)));
}

/// Widens f16 rows of whole eights that are finite.
inline void widen_finite_rows(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length,
                              float* target) {
  const F16Widener widen;
  for (int line = 0; line < count; ++line, source += stride, target += length) {
    for (int i = 0; i < length; i += 8) {
      const auto eight = widen(source + i);
      interleave_x8(eight.even * widen.bias(), eight.odd * widen.bias(), target + i);
    }
  }
}
#endif

/// Widens rows [first, first + count), which are in one page if in any, of `length` numbers, one after the other.
[[gnu::noinline]] inline void widen_rows(const KvRows& rows, int first, int count, int length, float* target) {
#ifdef __wasm_simd128__
  const std::uint16_t* const halves = row_of(rows, first).f16();
  if (rows.dtype == DType::f16 && length % 8 == 0 && is_f16_finite(halves, rows.stride, count, length)) {
    return widen_finite_rows(halves, rows.stride, count, length, target);
  }
#endif
  for (int line = 0; line < count; ++line) {
    const KvRow source = row_of(rows, first + line);
    int i = 0;
#ifdef __wasm_simd128__
    if (source.is_int8()) i = widen_i8_row(source, length, target);
#endif
    for (; i < length; i += kLanes) {
      const int some = length - i < kLanes ? length - i : kLanes;
      store_some(load_widened(source, i, some), target + i, some);
    }
    target += length;
  }
}

}  // namespace heed::kernels
