// Between rows in memory and rows in lanes: packs queries, masks and biases into
// panels, and takes scores and outputs out of them.
#pragma once

#include <cstring>

#include "kernels/attention_block.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// load_some() and store_some() where `count` is less than a vector. Functions of their own: there are many callers,
/// which seldom get here.
template <class Arch>
[[gnu::noinline]] Batch<Arch> load_part(const float* source, int count) {
#ifdef __wasm_simd128__
  // memory.copy of a few bytes is a call of the engine's.
  const v128_t first = count > 1 ? wasm_v128_load64_zero(source) : wasm_v128_load32_zero(source);
  return count > 2 ? wasm_v128_load32_lane(source + 2, first, 2) : first;
#else
  alignas(kScratchAlignment) float numbers[kLanes<Arch>] = {};
  std::memcpy(numbers, source, static_cast<std::size_t>(count) * sizeof(float));
  return Batch<Arch>::load_aligned(numbers);
#endif
}

template <class Arch>
[[gnu::noinline]] void store_part(Batch<Arch> batch, float* target, int count) {
#ifdef __wasm_simd128__
  if (count == 1) return wasm_v128_store32_lane(target, batch, 0);
  wasm_v128_store64_lane(target, batch, 0);
  if (count > 2) wasm_v128_store32_lane(target + 2, batch, 2);
#else
  alignas(kScratchAlignment) float numbers[kLanes<Arch>];
  batch.store_aligned(numbers);
  std::memcpy(target, numbers, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

/// `count` (at most a vector) numbers from `source`; the other lanes are zero.
template <class Arch>
inline Batch<Arch> load_some(const float* source, int count) {
  return count == kLanes<Arch> ? Batch<Arch>::load_unaligned(source) : load_part<Arch>(source, count);
}

template <class Arch>
inline void store_some(Batch<Arch> batch, float* target, int count) {
  if (count == kLanes<Arch>) return batch.store_unaligned(target);
  store_part<Arch>(batch, target, count);
}

/// panel[i][lane] = load(lane, i): `load(lane, i, count)` gives a vector of a row's
/// numbers from i on. Fills one vector of a panel of `stride` floats a line.
template <class Arch, class Load>
inline void rows_to_lanes(int length, float* panel, std::ptrdiff_t stride, Load load) {
  constexpr int lanes = kLanes<Arch>;
  for (int i = 0; i < length; i += lanes) {
    const int count = length - i < lanes ? length - i : lanes;
    Batch<Arch> square[lanes];
    for (int lane = 0; lane < lanes; ++lane) square[lane] = load(lane, i, count);
    xsimd::transpose(square, square + lanes);
    for (int line = 0; line < count; ++line) square[line].store_aligned(panel + (i + line) * stride);
  }
}

/// The way back, times a factor for each lane: `store(lane, i, vector, count)` receives each row's
/// numbers from i on.
template <class Arch, class Store>
inline void lanes_to_rows(int length, const float* panel, std::ptrdiff_t stride, Batch<Arch> factor, Store store) {
  constexpr int lanes = kLanes<Arch>;
  for (int i = 0; i < length; i += lanes) {
    const int count = length - i < lanes ? length - i : lanes;
    Batch<Arch> square[lanes];
    for (int line = 0; line < lanes; ++line) {
      square[line] = Batch<Arch>::load_aligned(panel + (i + (line < count ? line : 0)) * stride) * factor;
    }
    xsimd::transpose(square, square + lanes);
    for (int lane = 0; lane < lanes; ++lane) store(lane, i, square[lane], count);
  }
}

/// Where each lane's row goes; null: nowhere.
template <class Arch>
struct RowTargets {
  float* of[kLanes<Arch>] = {};

  void operator()(int lane, int i, Batch<Arch> numbers, int count) const {
    if (of[lane]) store_some<Arch>(numbers, of[lane] + i, count);
  }
};

/// The way back into those rows, from lines of a panel.
template <class Arch>
[[gnu::noinline]] void lanes_to_targets(int length, const float* panel, Batch<Arch> factor,
                                        const RowTargets<Arch>& targets) {
  lanes_to_rows<Arch>(length, panel, kPanel<Arch>, factor, targets);
}

}  // namespace heed::kernels
