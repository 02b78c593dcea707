// The product of two matrices as they lie. A task packs the columns that it multiplies.
#pragma once

#include <cstring>

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/memory/kv_rows.hpp"
#include "kernels/simd/transpose.hpp"

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

/// Columns of `left` from row `first` on as rows of `depth` numbers, in left_block.
inline FloatRows transpose_left(const StridedGemmTask& task, int first, int depth) {
  for (int k = 0; k < depth; k += kLanes) {
    const float* const rows = task.left + (first + k) * task.left_stride;
    rows_to_lanes(task.row_count, task.left_block + k, kLeftStride, [&](int lane, int row, int count) {
      return k + lane < depth ? load_some(rows + lane * task.left_stride + row, count) : Batch(0.0F);
    });
  }
  return {task.left_block, kLeftStride};
}

void strided_gemm(const StridedGemmTask& task) {
  const auto bytes = static_cast<std::size_t>(task.columns) * sizeof(float);
  for (int row = 0; (task.addend || task.depth == 0) && row < task.row_count; ++row) {
    float* const sums = task.sums + row * task.sum_stride;
    task.addend ? std::memcpy(sums, task.addend + row * task.addend_stride, bytes) : std::memset(sums, 0, bytes);
  }
  for (int first = 0; first < task.depth; first += kDepthBlock) {
    const int depth = task.depth - first < kDepthBlock ? task.depth - first : kDepthBlock;
    const FloatRows left =
        task.is_transposed ? transpose_left(task, first, depth) : FloatRows{task.left + first, task.left_stride};
    for (int column = 0; column < task.columns; column += kPanel) {
      const int columns = task.columns - column < kPanel ? task.columns - column : kPanel;
      pack_panel(task.right + first * task.right_stride + column, task.right_stride, depth, columns, task.panel);
      packed_gemm({.rows = left.data,
                   .row_stride = left.stride,
                   .row_count = task.row_count,
                   .panels = task.panel,
                   .depth = depth,
                   .columns = columns,
                   .sums = task.sums + column,
                   .sum_stride = task.sum_stride,
                   .last_panel = task.last_panel,
                   .are_added = task.addend || first > 0});
    }
  }
}

}  // namespace heed::kernels
