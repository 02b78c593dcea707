// Half precision in memory, single precision in registers.
#pragma once

#include <cstdint>

#include "kernels/attention_block.hpp"
#include "kernels/transpose.hpp"

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace heed::kernels {

/// Single precision of halves, given by their bits in words. Exact, for subnormal numbers, infinity and
/// NaN as well: a normal number takes its bits along and another bias of the exponent.
template <class Arch>
inline Batch<Arch> widen(xsimd::batch<std::int32_t, Arch> half) {
  using Words = xsimd::batch<std::int32_t, Arch>;
  const Words magnitude = half & Words(0x7FFF);
  const Words shifted = magnitude << 13;
  const Words rebias(112 << 23);  // 127 - 15, where single precision keeps its exponent
  const Words bent = xsimd::select(magnitude >= Words(0x7C00), rebias + rebias, rebias);
  // A subnormal is the end of the significand of 2^-14, from which 2^-14 is taken away; on its
  // own it would be a subnormal of single precision as well, which some machines are slow at.
  const Words least(113 << 23);
  const Batch<Arch> tiny = xsimd::bitwise_cast<float>(shifted + least) - xsimd::bitwise_cast<float>(least);
  const Words bits = xsimd::select(magnitude < Words(0x0400), xsimd::bitwise_cast<std::int32_t>(tiny), shifted + bent);
  return xsimd::bitwise_cast<float>(bits | ((half & Words(0x8000)) << 16));
}

/// As load_some, of halves.
template <class Arch>
[[gnu::noinline]] Batch<Arch> load_some_halves(const std::uint16_t* source, int count) {
  alignas(kScratchAlignment) std::int32_t words[kLanes<Arch>] = {};
  if (count == kLanes<Arch>) {
    for (int i = 0; i < kLanes<Arch>; ++i) words[i] = source[i];
  } else {
    for (int i = 0; i < count; ++i) words[i] = source[i];
  }
  return widen<Arch>(xsimd::batch<std::int32_t, Arch>::load_aligned(words));
}

/// As load_some, of bytes times their scale.
template <class Arch>
[[gnu::noinline]] Batch<Arch> load_some_bytes(Numbers line, int first, int count) {
  alignas(kScratchAlignment) float numbers[kLanes<Arch>] = {};
  for (int i = 0; i < count; ++i) numbers[i] = static_cast<float>(line.byte(first + i)) * *line.scale;
  return Batch<Arch>::load_aligned(numbers);
}

#ifdef __wasm_simd128__
/// Eight numbers of a row of bytes, from a multiple of eight on.
inline v128_t load_eight_bytes(const Numbers& row, int first) {
  if (row.precision == Precision::byte_keys) {
    const std::int8_t* const pairs = row.bytes() + first / 2 * kPairBytes;
    v128_t four = wasm_v128_load16_lane(pairs, wasm_i32x4_const_splat(0), 0);
    four = wasm_v128_load16_lane(pairs + kPairBytes, four, 1);
    four = wasm_v128_load16_lane(pairs + 2 * kPairBytes, four, 2);
    return wasm_i16x8_extend_low_i8x16(wasm_v128_load16_lane(pairs + 3 * kPairBytes, four, 3));
  }
  // Its own are the lower or the upper halves of words, which start at even addresses.
  const std::int8_t* const own = row.bytes() + row.step_to(first);
  const auto is_upper = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(own) % 2);
  return wasm_i16x8_shr(wasm_i16x8_shl(wasm_v128_load(own - is_upper), 8 - 8 * is_upper), 8);
}

/// Of a row of bytes writes as many numbers as are in whole eights, and says how many.
template <class Arch>
inline int widen_bytes(const Numbers& row, int length, float* target) {
  const Batch<Arch> scale(*row.scale);
  int i = 0;
  for (; i + 8 <= length; i += 8) {
    const v128_t eight = load_eight_bytes(row, i);
    const auto store = [&](v128_t four, float* place) {
      (Batch<Arch>(wasm_f32x4_convert_i32x4(four)) * scale).store_unaligned(place);
    };
    store(wasm_i32x4_extend_low_i16x8(eight), target + i);
    store(wasm_i32x4_extend_high_i16x8(eight), target + i + 4);
  }
  return i;
}
#endif

/// `count` (at most a vector) numbers of a line from its `first` on; the other lanes are zero.
template <class Arch>
inline Batch<Arch> load_numbers(Numbers line, std::ptrdiff_t first, int count) {
  if (line.are_bytes()) return load_some_bytes<Arch>(line, static_cast<int>(first), count);
  if (line.precision == Precision::half) return load_some_halves<Arch>(line.halves() + first, count);
  return load_some<Arch>(line.floats() + first, count);
}

#ifdef __wasm_simd128__
/// As whole numbers, which floats without a sign have the order of, with NaN at the end.
[[gnu::noinline]] static inline float largest_lane(v128_t sizes) {
  sizes = wasm_i32x4_max(sizes, wasm_i32x4_shuffle(sizes, sizes, 2, 3, 0, 1));
  sizes = wasm_i32x4_max(sizes, wasm_i32x4_shuffle(sizes, sizes, 1, 0, 3, 2));
  return wasm_f32x4_extract_lane(sizes, 0);
}

/// The largest magnitude of numbers in whole fours, NaN if there is one.
[[gnu::noinline]] static inline float largest_size(const float* numbers, int count) {
  v128_t sizes = wasm_i32x4_const_splat(0);
  for (int i = 0; i < count; i += 4) sizes = wasm_i32x4_max(sizes, wasm_f32x4_abs(wasm_v128_load(numbers + i)));
  return largest_lane(sizes);
}

/// By which what FiniteHalves gives is to be multiplied.
inline constexpr float kHalfBias = 0x1p112F;

struct HalfConstants {
  std::uint32_t kept[4] = {0x8FFFE000, 0x8FFFE000, 0x8FFFE000, 0x8FFFE000};
  std::int16_t raising[8] = {0x2000, 0, 0x2000, 0, 0x2000, 0, 0x2000, 0};
  float bias[4] = {kHalfBias, kHalfBias, kHalfBias, kHalfBias};
};

inline constexpr HalfConstants kHalfConstants{};

/// Widens eight halves that are finite: a half's bits, moved to where single precision has them, are its number times
/// 2^-112. Holds its constants: make one before a loop.
template <class Arch>
class FiniteHalves {
 public:
  FiniteHalves() : FiniteHalves(opaque(&kHalfConstants)) {}

  /// Of numbers 0 to 7 those with even and those with odd places.
  struct Eight {
    Batch<Arch> even, odd;
  };

  /// Without their bias. A half of a word is raised by 13 bits as a product, with its sign in front, or comes down from
  /// the word's upper end by 3; what is there beside it is cut off.
  [[gnu::always_inline]] Eight operator()(const std::uint16_t* halves) const {
    const v128_t bits = wasm_v128_load(halves);
    return {wasm_v128_and(wasm_i32x4_dot_i16x8(bits, raising_), kept_), wasm_v128_and(wasm_i32x4_shr(bits, 3), kept_)};
  }
  [[nodiscard]] Batch<Arch> bias() const { return bias_; }

 private:
  explicit FiniteHalves(const HalfConstants* c)
      : kept_(wasm_v128_load(c->kept)), raising_(wasm_v128_load(c->raising)), bias_(wasm_v128_load(c->bias)) {}

  v128_t kept_, raising_, bias_;
};

/// Eight numbers from those with even and those with odd places.
[[gnu::always_inline]] inline void join_eight(v128_t even, v128_t odd, float* eight) {
  wasm_v128_store(eight, wasm_i32x4_shuffle(even, odd, 0, 4, 1, 5));
  wasm_v128_store(eight + 4, wasm_i32x4_shuffle(even, odd, 2, 6, 3, 7));
}

/// Of lines of whole eights.
inline bool are_halves_finite(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length) {
  const v128_t size = wasm_i16x8_const_splat(0x7FFF);
  v128_t largest = wasm_i16x8_const_splat(0);
  for (int line = 0; line < count; ++line, source += stride) {
    for (int i = 0; i < length; i += 8) {
      largest = wasm_i16x8_max(largest, wasm_v128_and(wasm_v128_load(source + i), size));
    }
  }
  return !wasm_v128_any_true(wasm_i16x8_ge(largest, wasm_i16x8_const_splat(0x7C00)));
}

/// Lines of whole eights.
template <class Arch>
inline void widen_finite_lines(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length,
                               float* target) {
  const FiniteHalves<Arch> widen;
  for (int line = 0; line < count; ++line, source += stride, target += length) {
    for (int i = 0; i < length; i += 8) {
      const auto eight = widen(source + i);
      join_eight(eight.even * widen.bias(), eight.odd * widen.bias(), target + i);
    }
  }
}
#endif

/// Writes rows [first, first + count), which are in one page if in any, of `length` numbers, one after the other.
template <class Arch>
[[gnu::noinline]] void widen_rows(const HeadRows& rows, int first, int count, int length, float* target) {
#ifdef __wasm_simd128__
  const std::uint16_t* const halves = row_of(rows, first).halves();
  if (rows.first.precision == Precision::half && length % 8 == 0 &&
      are_halves_finite(halves, rows.stride, count, length)) {
    return widen_finite_lines<Arch>(halves, rows.stride, count, length, target);
  }
#endif
  for (int line = 0; line < count; ++line) {
    const Numbers source = row_of(rows, first + line);
    int i = 0;
#ifdef __wasm_simd128__
    if (source.are_bytes()) i = widen_bytes<Arch>(source, length, target);
#endif
    for (; i < length; i += kLanes<Arch>) {
      const int some = length - i < kLanes<Arch> ? length - i : kLanes<Arch>;
      store_some<Arch>(load_numbers<Arch>(source, i, some), target + i, some);
    }
    target += length;
  }
}

}  // namespace heed::kernels
