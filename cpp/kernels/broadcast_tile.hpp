// The one inner loop of attention: a few numbers, each broadcast against a panel.
// Both products are this: scores = keys x queries, output = values x weights.
#pragma once

#include <cstddef>

#include "kernels/simd.hpp"

namespace heed::kernels {

/// 6 rows x 2 vectors: 12 sums cover the latency of a fused multiply-add (4 cycles,
/// 2 a cycle) and fit the registers. Plain WebAssembly has no fused one: the products
/// take registers as well, and with 12 sums V8 spills (26 GFLOP/s instead of 43).
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr int kTileRows = 4;
#else
inline constexpr int kTileRows = 6;
#endif

template <class Arch, int kRows>
using Tile = Batch<Arch>[kRows][kPanelVectors];

/// Numbers in lines `stride` apart.
struct Lines {
  const float* numbers;
  std::ptrdiff_t stride;

  [[nodiscard]] const float* line(std::ptrdiff_t index) const { return numbers + index * stride; }
  [[nodiscard]] Lines from(std::ptrdiff_t index) const { return {line(index), stride}; }
};

/// What a tile multiplies: panel[depth][kPanel], and numbers in lines `stride` apart.
struct TileInput {
  const float* panel;
  int depth;
  const float* numbers;
  std::ptrdiff_t stride;
};

/// tile[r] += sum over k of element(r, k) * panel[k], where `element` gives the
/// address of a number and `panel` is [depth][kPanel].
template <class Arch, int kRows, class Element>
[[gnu::always_inline]] inline void accumulate(Tile<Arch, kRows>& tile, int depth, const float* panel, Element element) {
  for (int k = 0; k < depth; ++k) {
    const Batch<Arch> first = Batch<Arch>::load_aligned(panel);
    const Batch<Arch> second = Batch<Arch>::load_aligned(panel + kLanes<Arch>);
    panel += kPanel<Arch>;
    for (int r = 0; r < kRows; ++r) {
      const Batch<Arch> number = Batch<Arch>::broadcast(*element(r, k));
      tile[r][0] = multiply_add<Arch>(number, first, tile[r][0]);
      tile[r][1] = multiply_add<Arch>(number, second, tile[r][1]);
    }
  }
}

/// tile += source, as store_tile() left it there.
template <class Arch, int kRows>
[[gnu::always_inline]] inline void add_tile(const float* source, Tile<Arch, kRows>& tile) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] += Batch<Arch>::load_aligned(source + r * kPanel<Arch> + vector * kLanes<Arch>);
    }
  }
}

template <class Arch, int kRows>
[[gnu::always_inline]] inline void store_tile(const Tile<Arch, kRows>& tile, float* target) {
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector].store_aligned(target + r * kPanel<Arch> + vector * kLanes<Arch>);
    }
  }
}

/// Calls body.template operator()<rows>(first_row) over [0, count) in tiles of
/// kTileRows, the last one of what remains: the same code, a shorter tile. The body calls a
/// function that is not inlined: V8 gives a tile its registers only where it is alone, and
/// replaces baseline code only when a function is called again.
template <class Body>
[[gnu::always_inline]] inline void for_each_tile(int count, Body body) {
  static_assert(kTileRows <= 6);
  int row = 0;
  for (; row + kTileRows <= count; row += kTileRows) body.template operator()<kTileRows>(row);
  switch (count - row) {
    case 5:
      return body.template operator()<5>(row);
    case 4:
      return body.template operator()<4>(row);
    case 3:
      return body.template operator()<3>(row);
    case 2:
      return body.template operator()<2>(row);
    case 1:
      return body.template operator()<1>(row);
    default:
      return;
  }
}

}  // namespace heed::kernels
