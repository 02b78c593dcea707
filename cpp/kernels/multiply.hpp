// Rows times a packed matrix: the tile of attention's products, with the matrix in its panels.
#pragma once

#include <cstring>

#include "kernels/broadcast_tile.hpp"
#include "kernels/row_blocks.hpp"

namespace heed::kernels {

/// A panel's part that passes all rows: 16 KB, half of a first-level cache; six rows of that depth fit beside it.
template <class Arch>
inline constexpr int kDepthBlock = 4096 / kPanel<Arch>;

/// Where a tile's sums go, and whether they are added to what is there.
struct TileSums {
  float* sums;
  std::ptrdiff_t stride;
  bool are_added;
};

template <class Arch, int kRows>
[[gnu::noinline]] void multiply_tile(const TileInput& input, const TileSums& target) {
  const float* row[kRows];
  for (int r = 0; r < kRows; ++r) row[r] = input.numbers + r * input.stride;
  Tile<Arch, kRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = Batch<Arch>(0.0F);
  accumulate<Arch, kRows>(tile, input.depth, input.panel, [&row](int r, int k) { return row[r] + k; });
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      float* const sums = target.sums + r * target.stride + vector * kLanes<Arch>;
      if (target.are_added) tile[r][vector] += Batch<Arch>::load_unaligned(sums);
      tile[r][vector].store_unaligned(sums);
    }
  }
}

/// One row: what it waits for is memory, so a panel is read in its order, once, into sums that do not wait for each
/// other.
template <class Arch>
[[gnu::noinline]] void multiply_row(const float* row, const float* panel, int depth, float* sums) {
  constexpr int ways = 4;
  Batch<Arch> partial[ways][kPanelVectors];
  for (auto& way : partial) way[0] = way[1] = Batch<Arch>(0.0F);
  int k = 0;
  for (; k + ways <= depth; k += ways) {
    for (int way = 0; way < ways; ++way) {
      const Batch<Arch> number = Batch<Arch>::broadcast(row[k + way]);
      for (int vector = 0; vector < kPanelVectors; ++vector) {
        const Batch<Arch> weights = Batch<Arch>::load_aligned(panel + vector * kLanes<Arch>);
        partial[way][vector] = multiply_add<Arch>(number, weights, partial[way][vector]);
      }
      panel += kPanel<Arch>;
    }
  }
  for (; k < depth; ++k) {
    const Batch<Arch> number = Batch<Arch>::broadcast(row[k]);
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch<Arch> weights = Batch<Arch>::load_aligned(panel + vector * kLanes<Arch>);
      partial[0][vector] = multiply_add<Arch>(number, weights, partial[0][vector]);
    }
    panel += kPanel<Arch>;
  }
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const Batch<Arch> sum = (partial[0][vector] + partial[1][vector]) + (partial[2][vector] + partial[3][vector]);
    sum.store_unaligned(sums + vector * kLanes<Arch>);
  }
}

/// See LayerKernels.
template <class Arch>
void multiply(const MultiplyBlock& block) {
  const int whole = block.columns / kPanel<Arch>;
  const int panels = (block.columns + kPanel<Arch> - 1) / kPanel<Arch>;
  const std::ptrdiff_t panel_floats = std::ptrdiff_t{block.depth} * kPanel<Arch>;
  const auto sums_of = [&](int panel) { return panel < whole ? block.sums + panel * kPanel<Arch> : block.last_panel; };
  if (block.is_single) {
    for (int panel = 0; panel < panels; ++panel) {
      multiply_row<Arch>(block.rows, block.panels + panel * panel_floats, block.depth, sums_of(panel));
    }
  } else {
    for (int first = 0; first < block.depth; first += kDepthBlock<Arch>) {
      const int depth = block.depth - first < kDepthBlock<Arch> ? block.depth - first : kDepthBlock<Arch>;
      for (int panel = 0; panel < panels; ++panel) {
        const float* const weights = block.panels + panel * panel_floats + std::ptrdiff_t{first} * kPanel<Arch>;
        const std::ptrdiff_t stride = panel < whole ? block.sum_stride : kPanel<Arch>;
        for_each_tile(block.row_count, [&]<int kRows>(int row) {
          multiply_tile<Arch, kRows>({weights, depth, block.rows + row * block.row_stride + first, block.row_stride},
                                     {sums_of(panel) + row * stride, stride, first > 0});
        });
      }
    }
  }
  const auto left = static_cast<std::size_t>(block.columns - whole * kPanel<Arch>) * sizeof(float);
  for (int row = 0; left > 0 && row < block.row_count; ++row) {
    std::memcpy(block.sums + row * block.sum_stride + whole * kPanel<Arch>, block.last_panel + row * kPanel<Arch>,
                left);
  }
}

}  // namespace heed::kernels
