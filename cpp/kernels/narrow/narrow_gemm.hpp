// Rows times packed weights.
#pragma once

#include <utility>

#include "kernels/narrow/group_products.hpp"
#include "kernels/narrow/half_gemm.hpp"
#include "kernels/narrow/pack_panel.hpp"
#include "kernels/narrow/quantize_rows.hpp"

namespace heed::kernels {

/// Few rows wait for the weights to come from memory. A core reads several panels alternately faster than one after the
/// other, so groups of so many panels take turns. Many rows pass a panel's groups while these are in the first-level
/// cache.
inline constexpr int kFewRowsGroups = 4, kManyRowsGroups = 16;

/// Some groups of some panels, which begin `stride` apart.
struct GroupBlock {
  const std::uint8_t* panels;
  std::ptrdiff_t stride;
  int panel_count;
  int group_count;
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

/// sums[panel][sums_stride] += rows x panels, scaled and added in one fixed order, by multiplications and additions
/// that no machine fuses.
template <class Products, int kRows>
[[gnu::noinline]] void add_group_products(const GroupBlock& block, float* sums, std::ptrdiff_t sums_stride) {
  using Panel = typename Products::Panel;
  const auto [panels, stride, panel_count, group_count, first_row, row_stride] = block;
  for (int g = 0; g < group_count; ++g) {
    const QuantizedGroup* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = first_row + r * row_stride + g;
    const std::uint8_t* group = panels + std::ptrdiff_t{g} * Panel::kGroupBytes;
    float* panel_sums = sums;
    for (int p = 0; p < panel_count; ++p, group += stride, panel_sums += sums_stride) {
      NarrowTile<kRows> tile;
      Products::template multiply<kRows>(group, rows, tile);
      const float* const scales = scales_of<Panel>(group);
      for (int r = 0; r < kRows; ++r) {
        const Batch scale(rows[r]->scale), row_sum(rows[r]->sum);
        for (int v = 0; v < kNarrowVectors; ++v) {
          float* const sum = panel_sums + r * kNarrowPanel + v * kLanes;
          const Batch product = scaled<Panel>(tile[r][v], scales + v * kLanes, row_sum) * scale;
          (Batch::load_aligned(sum) + product).store_aligned(sum);
        }
      }
    }
  }
}

/// By the rows of a tile. Called by a table, because linkers inline what has one caller, and V8 gives a tile its
/// registers only where it is alone.
template <class Products>
struct TileTable {
  using Function = void (*)(const GroupBlock&, float*, std::ptrdiff_t);
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
  const std::ptrdiff_t stride = std::ptrdiff_t{groups} * Panel::kGroupBytes;
  const bool is_few = task.row_count <= kFewRows;
  const int at_once = is_few ? kPanelsAtOnce : 1;
  const int part = is_few ? kFewRowsGroups : kManyRowsGroups;
  const int height = is_few ? kFewRows : kMostNarrowRows;
  static_assert(kFewRows * kPanelsAtOnce <= kMostNarrowRows);
  alignas(kScratchAlignment) float block[kMostNarrowRows * kNarrowPanel];
  const auto* const rows = reinterpret_cast<const QuantizedGroup*>(task.quantized);
  const int panels = (task.columns + kNarrowPanel - 1) / kNarrowPanel;
  for (int panel = 0; panel < panels; panel += at_once) {
    const int count = panels - panel < at_once ? panels - panel : at_once;
    std::memset(block, 0, sizeof block);
    for (int first = 0; first < groups; first += part) {
      const GroupBlock from{task.panels + panel * stride + std::ptrdiff_t{first} * Panel::kGroupBytes,
                            stride,
                            count,
                            groups - first < part ? groups - first : part,
                            rows + first,
                            groups};
      // In as few tiles as possible, of nearly equal heights.
      int tiles = (task.row_count + Products::kMostRows - 1) / Products::kMostRows;
      for (int row = 0; tiles > 0; --tiles) {
        const int tile = (task.row_count - row + tiles - 1) / tiles;
        GroupBlock own = from;
        own.rows += std::ptrdiff_t{row} * groups;
        kTiles<Products>.by_rows[tile - 1](own, block + row * kNarrowPanel, std::ptrdiff_t{height} * kNarrowPanel);
        row += tile;
      }
    }
    for (int p = 0; p < count; ++p) {
      const int column = (panel + p) * kNarrowPanel;
      const int columns = task.columns - column < kNarrowPanel ? task.columns - column : kNarrowPanel;
      for (int row = 0; row < task.row_count; ++row) {
        std::memcpy(task.sums + row * task.sum_stride + column, block + (p * height + row) * kNarrowPanel,
                    static_cast<std::size_t>(columns) * sizeof(float));
      }
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
