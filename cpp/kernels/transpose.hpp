// Between rows in memory and rows in lanes: packs queries, masks and biases into
// panels, and takes scores and outputs out of them.
#pragma once

#include <cstring>

#include "kernels/attention_block.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// `count` (at most a vector) numbers from `source`; the other lanes are zero.
template <class Arch>
inline Batch<Arch> load_some(const float* source, int count) {
  if (count == kLanes<Arch>) return Batch<Arch>::load_unaligned(source);
  alignas(kScratchAlignment) float numbers[kLanes<Arch>] = {};
  std::memcpy(numbers, source, static_cast<std::size_t>(count) * sizeof(float));
  return Batch<Arch>::load_aligned(numbers);
}

template <class Arch>
inline void store_some(Batch<Arch> batch, float* target, int count) {
  if (count == kLanes<Arch>) return batch.store_unaligned(target);
  alignas(kScratchAlignment) float numbers[kLanes<Arch>];
  batch.store_aligned(numbers);
  std::memcpy(target, numbers, static_cast<std::size_t>(count) * sizeof(float));
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
