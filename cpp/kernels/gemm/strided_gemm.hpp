// The product of two matrices as they lie. A task packs the columns that it multiplies.
#pragma once

#include <cstring>

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/gemm/register_tile.hpp"

namespace heed::kernels {

/// The columns from `column` on, at most kPanel of them, of rows of a matrix: panel[count][kPanel], zeros beyond.
inline void pack_panel(const float* rows, std::ptrdiff_t stride, int count, int columns, float* panel) {
  for (int k = 0; k < count; ++k, rows += stride, panel += kPanel) {
    if (columns == kPanel) {
      for (int vector = 0; vector < kPanelVectors; ++vector) {
        Batch::load_unaligned(rows + vector * kLanes).store_aligned(panel + vector * kLanes);
      }
    } else {
      std::memset(panel, 0, kPanel * sizeof(float));
      std::memcpy(panel, rows, static_cast<std::size_t>(columns) * sizeof(float));
    }
  }
}

/// sums = sums + rows x panel. In the form NN the rows of the tile are columns of `rows`.
template <int kRows, bool kTransposed>
[[gnu::noinline]] void add_product(const TileOperands& input, float* sums, std::ptrdiff_t stride) {
  RegisterTile<kRows> tile;
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector] = Batch::load_unaligned(sums + r * stride + vector * kLanes);
    }
  }
  if constexpr (kTransposed) {
    accumulate_nn<kRows>(tile, input);
  } else {
    accumulate_nt<kRows>(tile, input);
  }
  for (int r = 0; r < kRows; ++r) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      tile[r][vector].store_unaligned(sums + r * stride + vector * kLanes);
    }
  }
}

/// Copies `count` rows, of which columns are multiplied, into left_block.
inline FloatRows pack_rows(const StridedGemmTask& task, const float* rows, int count) {
  for (int k = 0; k < count; ++k) {
    std::memcpy(task.left_block + std::ptrdiff_t{k} * task.row_count, rows + k * task.left_stride,
                static_cast<std::size_t>(task.row_count) * sizeof(float));
  }
  return {task.left_block, task.row_count};
}

template <bool kTransposed>
void add_products(const StridedGemmTask& task) {
  for (int first = 0; first < task.depth; first += kDepthBlock) {
    const int depth = task.depth - first < kDepthBlock ? task.depth - first : kDepthBlock;
    FloatRows left{task.left + (kTransposed ? first * task.left_stride : first), task.left_stride};
    if (kTransposed && task.left_block) left = pack_rows(task, left.data, depth);
    for (int column = 0; column < task.columns; column += kPanel) {
      const int columns = task.columns - column < kPanel ? task.columns - column : kPanel;
      pack_panel(task.right + first * task.right_stride + column, task.right_stride, depth, columns, task.panel);
      const bool is_whole = columns == kPanel;
      float* const sums = is_whole ? task.sums + column : task.last_panel;
      const std::ptrdiff_t stride = is_whole ? task.sum_stride : kPanel;
      const std::ptrdiff_t next = kTransposed ? 1 : task.left_stride;
      for_each_tile(task.row_count, [&]<int kRows>(int row) {
        add_product<kRows, kTransposed>({task.panel, depth, {left.data + row * next, left.stride}}, sums + row * stride,
                                        stride);
      });
    }
  }
}

void strided_gemm(const StridedGemmTask& task) {
  const int whole = task.columns / kPanel * kPanel;
  const auto left_over = static_cast<std::size_t>(task.columns - whole) * sizeof(float);
  for (int row = 0; row < task.row_count; ++row) {
    float* const sums = task.sums + row * task.sum_stride;
    const float* const addend = task.addend == nullptr ? nullptr : task.addend + row * task.addend_stride;
    const auto all = static_cast<std::size_t>(task.columns) * sizeof(float);
    addend == nullptr ? std::memset(sums, 0, all) : std::memcpy(sums, addend, all);
    if (left_over == 0) continue;
    std::memset(task.last_panel + row * kPanel, 0, kPanel * sizeof(float));
    std::memcpy(task.last_panel + row * kPanel, sums + whole, left_over);
  }
  task.is_transposed ? add_products<true>(task) : add_products<false>(task);
  for (int row = 0; left_over > 0 && row < task.row_count; ++row) {
    std::memcpy(task.sums + row * task.sum_stride + whole, task.last_panel + row * kPanel, left_over);
  }
}

}  // namespace heed::kernels
