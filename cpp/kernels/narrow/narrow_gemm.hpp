// Rows times packed weights.
#pragma once

#include <cstring>
#include <utility>

#include "kernels/narrow/group_products.hpp"
#include "kernels/narrow/pack_panel.hpp"
#include "kernels/narrow/quantize_rows.hpp"

namespace heed::kernels {

/// Rows of more than one tile pass so many groups of a panel while these are in the first-level cache. Those of one
/// tile wait for the weights, which come fastest in one stream: with panels in turns a core reads half as fast.
inline constexpr int kGroupsAtOnce = 16;

/// Some groups of a panel.
struct GroupBlock {
  const std::uint8_t* groups;
  int count;
  const QuantizedGroup* rows;  // from the first group on
  std::ptrdiff_t row_stride;
};

/// Sums of products in f32, by the scales and offsets of the outputs.
template <class Panel>
[[gnu::always_inline]] inline Batch scaled(I32Batch products, const float* scales, Batch sum) {
  const Batch scale = Batch::load_unaligned(scales), whole = xsimd::to_float(products);
  if constexpr (kHasOffsets<Panel>) {
    return (whole + Batch(8.0F) * sum) * scale + Batch::load_unaligned(scales + kNarrowPanel) * sum;
  } else {
    return whole * scale;
  }
}

/// sums[kRows][kNarrowPanel] += rows x groups, scaled and added in one fixed order, by multiplications and additions
/// that no machine fuses.
template <class Products, int kRows>
[[gnu::noinline]] void add_group_products(const GroupBlock& block, float* sums) {
  using Panel = typename Products::Panel;
  const auto [groups, count, first_row, row_stride] = block;
  const std::uint8_t* group = groups;
  for (int g = 0; g < count; ++g, group += Panel::kGroupBytes) {
    const QuantizedGroup* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = first_row + r * row_stride + g;
    NarrowTile<kRows> tile;
    Products::template multiply<kRows>(group, rows, tile);
    const float* const scales = scales_of<Panel>(group);
    for (int r = 0; r < kRows; ++r) {
      const Batch scale(rows[r]->scale), row_sum(rows[r]->sum);
      for (int v = 0; v < kNarrowVectors; ++v) {
        float* const sum = sums + r * kNarrowPanel + v * kLanes;
        const Batch product = scaled<Panel>(tile[r][v], scales + v * kLanes, row_sum) * scale;
        (Batch::load_aligned(sum) + product).store_aligned(sum);
      }
    }
  }
}

/// By the rows of a tile. Called by a table, because linkers inline what has one caller, and V8 gives a tile its
/// registers only where it is alone.
template <class Products>
struct TileTable {
  using Function = void (*)(const GroupBlock&, float*);
  Function by_rows[Products::kMostRows];

  template <std::size_t... kIndex>
  static constexpr TileTable of(std::index_sequence<kIndex...> /*rows*/) {
    return {{add_group_products<Products, static_cast<int>(kIndex) + 1>...}};
  }
};
template <class Products>
inline constexpr TileTable<Products> kTiles = TileTable<Products>::of(std::make_index_sequence<Products::kMostRows>{});

template <class Products>
void multiply_whole(const NarrowGemmTask& task) {
  using Panel = typename Products::Panel;
  const int groups = task.inputs / kGroup;
  const int at_once = task.row_count <= Products::kMostRows ? groups : kGroupsAtOnce;
  const auto sum_floats = static_cast<std::size_t>(task.row_count) * std::size_t{kNarrowPanel};
  alignas(kScratchAlignment) float sums[kMostNarrowRows * kNarrowPanel];
  const std::uint8_t* panel = task.panels;
  for (int column = 0; column < task.columns; column += kNarrowPanel) {
    std::memset(sums, 0, sum_floats * sizeof(float));
    for (int first = 0; first < groups; first += at_once) {
      const int count = groups - first < at_once ? groups - first : at_once;
      const auto* row_groups = reinterpret_cast<const QuantizedGroup*>(task.quantized) + first;
      // In as few tiles as possible, of nearly equal heights.
      int tiles = (task.row_count + Products::kMostRows - 1) / Products::kMostRows;
      for (int row = 0; tiles > 0; --tiles) {
        const int tile = (task.row_count - row + tiles - 1) / tiles;
        kTiles<Products>.by_rows[tile - 1]({panel, count, row_groups + std::ptrdiff_t{row} * groups, groups},
                                           sums + row * kNarrowPanel);
        row += tile;
      }
      panel += std::ptrdiff_t{count} * Panel::kGroupBytes;
    }
    const int columns = task.columns - column < kNarrowPanel ? task.columns - column : kNarrowPanel;
    for (int row = 0; row < task.row_count; ++row) {
      std::memcpy(task.sums + row * task.sum_stride + column, sums + row * kNarrowPanel,
                  static_cast<std::size_t>(columns) * sizeof(float));
    }
  }
}

void narrow_gemm(const NarrowGemmTask& task) {
  const bool has_offsets = task.format != WeightFormat::int4;
  auto* multiply = has_offsets ? multiply_whole<PairProducts<Int4MinPanel>> : multiply_whole<PairProducts<Int4Panel>>;
#ifdef __wasm_relaxed_simd__
  if (has_relaxed_dot()) {
    multiply = has_offsets ? multiply_whole<RelaxedNibbleProducts<Int4MinPanel>>
                           : multiply_whole<RelaxedNibbleProducts<Int4Panel>>;
  }
#endif
  if (task.format == WeightFormat::int8) multiply = multiply_whole<PairProducts<Int8Panel>>;
  if (is_half(task.format)) multiply = multiply_half;
  multiply(task);
}

}  // namespace heed::kernels
