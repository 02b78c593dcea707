// Rows times packed weights.
#pragma once

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/narrow/group_products.hpp"
#include "kernels/narrow/pack_panel.hpp"

namespace heed::kernels {

/// Few rows wait for the weights to come from memory. A core reads several panels alternately faster than one after the
/// other, so groups of so many panels take turns. Many rows pass a panel's groups while these are in the first-level
/// cache.
inline constexpr int kFewRowsGroups = 4, kManyRowsGroups = 16;

/// Some groups of some panels, which begin `stride` apart.
template <class Products>
struct GroupBlock {
  const std::uint8_t* panels;
  std::ptrdiff_t stride;
  int panel_count;
  int group_count;
  const typename Products::Activations* rows;  // from the first group on
  std::ptrdiff_t row_stride;
};

/// sums[panel][kMostNarrowRows or kFewRows][kNarrowPanel] += rows x panels.
template <class Products, int kRows>
[[gnu::noinline]] void add_group_products(const GroupBlock<Products>& block, float* sums, std::ptrdiff_t sums_stride) {
  using Panel = typename Products::Panel;
  const auto [panels, stride, panel_count, group_count, first_row, row_stride] = block;
  for (int g = 0; g < group_count; ++g) {
    const typename Products::Activations* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = first_row + r * row_stride + g;
    const std::uint8_t* group = panels + std::ptrdiff_t{g} * Panel::kGroupBytes;
    float* panel_sums = sums;
    for (int p = 0; p < panel_count; ++p, group += stride, panel_sums += sums_stride) {
      NarrowTile<kRows> tile;
      Products::template multiply<kRows>(group, rows, tile);
      const float* const scales = scales_of<Panel>(group);
      for (int v = 0; v < kNarrowVectors; ++v) {
        const Batch scale = Batch::load_unaligned(scales + v * kLanes);
        for (int r = 0; r < kRows; ++r) {
          float* const sum = panel_sums + r * kNarrowPanel + v * kLanes;
          const Batch product =
              Products::sum_of(tile[r][v], scales + kNarrowPanel + v * kLanes, scale, *rows[r]) * Batch(rows[r]->scale);
          (Batch::load_aligned(sum) + product).store_aligned(sum);
        }
      }
    }
  }
}

/// By the rows of a tile. Called by a table, because linkers inline what has one caller, and V8 gives a tile its
/// registers only where it is alone.
template <class Products>
inline constexpr void (*kAddProducts[])(const GroupBlock<Products>&, float*, std::ptrdiff_t) = {
    add_group_products<Products, 1>, add_group_products<Products, 2>, add_group_products<Products, 3>};

/// Tiles of three rows, but four are two of two.
constexpr int tile_height(int rows) { return rows == 4 || rows == 2 ? 2 : rows >= 3 ? 3 : 1; }

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
  const auto* const rows = reinterpret_cast<const typename Products::Activations*>(task.quantized);
  const int panels = (task.columns + kNarrowPanel - 1) / kNarrowPanel;
  for (int panel = 0; panel < panels; panel += at_once) {
    const int count = panels - panel < at_once ? panels - panel : at_once;
    std::memset(block, 0, sizeof block);
    for (int first = 0; first < groups; first += part) {
      const GroupBlock<Products> from{task.panels + panel * stride + std::ptrdiff_t{first} * Panel::kGroupBytes,
                                      stride,
                                      count,
                                      groups - first < part ? groups - first : part,
                                      rows + first,
                                      groups};
      for (int row = 0; row < task.row_count;) {
        const int tile = tile_height(task.row_count - row);
        GroupBlock<Products> own = from;
        own.rows += std::ptrdiff_t{row} * groups;
        kAddProducts<Products>[tile - 1](own, block + row * kNarrowPanel, std::ptrdiff_t{height} * kNarrowPanel);
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

/// Weights of 16 bits are widened into panels of the packed GEMM, some depth at a time.
inline constexpr int kHalfPanels = (kNarrowPanel + kPanel - 1) / kPanel;

std::ptrdiff_t narrow_scratch_floats(WeightFormat format) {
  return is_half(format) ? (kHalfPanels * kDepthBlock + kMostNarrowRows) * kPanel : 0;
}

template <WeightFormat kFormat>
[[gnu::noinline]] void widen_half_panel(const std::uint8_t* panel, int depth, float* target) {
  for (int k = 0; k < depth; ++k, panel += kNarrowPanel * 2, target += kPanel) {
    for (int first = 0; first < kNarrowPanel; first += kLanes) {
      const I32Batch bits = load_u16_lanes(panel + first * 2);
      const Batch numbers = kFormat == WeightFormat::f16 ? widen(bits) : xsimd::bitwise_cast<float>(bits << 16);
      numbers.store_aligned(target + first / kPanel * depth * kPanel + first % kPanel);
    }
  }
}

/// By format, likewise.
inline constexpr void (*kWidenPanel[])(const std::uint8_t*, int, float*) = {widen_half_panel<WeightFormat::f16>,
                                                                            widen_half_panel<WeightFormat::bf16>};

inline void multiply_half(const NarrowGemmTask& task) {
  float* const last_panel = task.scratch + kHalfPanels * kDepthBlock * kPanel;
  if constexpr (kPanel > kNarrowPanel) {
    std::memset(task.scratch, 0, static_cast<std::size_t>(kDepthBlock * kPanel) * sizeof(float));
  }
  const std::ptrdiff_t stride = panel_bytes(task.format, task.inputs);
  const std::uint8_t* panel = task.panels;
  for (int column = 0; column < task.columns; column += kNarrowPanel, panel += stride) {
    for (int first = 0; first < task.inputs; first += kDepthBlock) {
      const int depth = task.inputs - first < kDepthBlock ? task.inputs - first : kDepthBlock;
      const std::uint8_t* const rows = panel + std::ptrdiff_t{first} * kNarrowPanel * 2;
      kWidenPanel[static_cast<int>(task.format)](rows, depth, task.scratch);
      packed_gemm({.rows = task.rows + first,
                   .row_stride = task.row_stride,
                   .row_count = task.row_count,
                   .panels = task.scratch,
                   .depth = depth,
                   .columns = task.columns - column < kNarrowPanel ? task.columns - column : kNarrowPanel,
                   .sums = task.sums + column,
                   .sum_stride = task.sum_stride,
                   .last_panel = last_panel,
                   .are_added = first > 0});
    }
  }
}

void narrow_gemm(const NarrowGemmTask& task) {
  const bool has_offsets = task.format != WeightFormat::int4;
  auto* multiply = has_offsets ? multiply_whole<WithOffsets<Int4Products>> : multiply_whole<Int4Products>;
#ifdef __wasm_relaxed_simd__
  if (has_relaxed_dot()) {
    multiply = has_offsets ? multiply_whole<WithOffsets<RelaxedInt4Products>> : multiply_whole<RelaxedInt4Products>;
  }
#endif
  if (task.format == WeightFormat::int8) multiply = multiply_whole<Int8Products>;
  if (is_half(task.format)) multiply = multiply_half;
  multiply(task);
}

}  // namespace heed::kernels
