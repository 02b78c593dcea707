// Half precision in memory, single precision in registers.
#pragma once

#include <cstdint>

#include "kernels/attention_block.hpp"
#include "kernels/transpose.hpp"

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
inline Batch<Arch> load_some_halves(const std::uint16_t* source, int count) {
  alignas(kScratchAlignment) std::int32_t words[kLanes<Arch>] = {};
  if (count == kLanes<Arch>) {
    for (int i = 0; i < kLanes<Arch>; ++i) words[i] = source[i];
  } else {
    for (int i = 0; i < count; ++i) words[i] = source[i];
  }
  return widen<Arch>(xsimd::batch<std::int32_t, Arch>::load_aligned(words));
}

/// `count` (at most a vector) numbers of a line from its `first` on; the other lanes are zero.
template <class Arch>
inline Batch<Arch> load_numbers(Numbers line, std::ptrdiff_t first, int count) {
  if (line.precision == Precision::half) return load_some_halves<Arch>(line.halves() + first, count);
  return load_some<Arch>(line.floats() + first, count);
}

/// Writes `count` lines of `length` halves, `stride` apart, one after the other.
template <class Arch>
inline void widen_lines(const std::uint16_t* source, std::ptrdiff_t stride, int count, int length, float* target) {
  for (int line = 0; line < count; ++line) {
    for (int i = 0; i < length; i += kLanes<Arch>) {
      const int some = length - i < kLanes<Arch> ? length - i : kLanes<Arch>;
      store_some<Arch>(load_some_halves<Arch>(source + i, some), target + i, some);
    }
    source += stride;
    target += length;
  }
}

}  // namespace heed::kernels
