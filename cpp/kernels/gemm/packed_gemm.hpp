// Rows times a packed matrix (GEMM), by the register tile, and one row alone (GEMV).
#pragma once

#include <cstring>

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/gemm/register_tile.hpp"

namespace heed::kernels {

/// GEMV. One row is memory-bound, so a panel is read in its order, once, into accumulators that do not wait for each
/// other. A register tile of one row would have two accumulators, and one of four rows four panels.
[[gnu::noinline]] inline void gemv_panel(const float* row, const float* panel, int depth, float* sums) {
  constexpr int accumulators = 4;
  Batch partial[accumulators][kPanelVectors];
  for (auto& a : partial) a[0] = a[1] = Batch(0.0F);
  int k = 0;
  for (; k + accumulators <= depth; k += accumulators) {
    for (int a = 0; a < accumulators; ++a) {
      const Batch number = Batch::broadcast(row[k + a]);
      for (int vector = 0; vector < kPanelVectors; ++vector) {
        const Batch weights = Batch::load_aligned(panel + vector * kLanes);
        partial[a][vector] = multiply_add(number, weights, partial[a][vector]);
      }
      panel += kPanel;
    }
  }
  for (; k < depth; ++k) {
    const Batch number = Batch::broadcast(row[k]);
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      const Batch weights = Batch::load_aligned(panel + vector * kLanes);
      partial[0][vector] = multiply_add(number, weights, partial[0][vector]);
    }
    panel += kPanel;
  }
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const Batch sum = (partial[0][vector] + partial[1][vector]) + (partial[2][vector] + partial[3][vector]);
    sum.store_unaligned(sums + vector * kLanes);
  }
}

void packed_gemm(const GemmTask& task) {
  const int whole = task.columns / kPanel;
  const int panels = (task.columns + kPanel - 1) / kPanel;
  const std::ptrdiff_t panel_floats = std::ptrdiff_t{task.depth} * kPanel;
  const auto sums_of = [&](int panel) { return panel < whole ? task.sums + panel * kPanel : task.last_panel; };
  if (task.is_single) {
    for (int panel = 0; panel < panels; ++panel) {
      gemv_panel(task.rows, task.panels + panel * panel_floats, task.depth, sums_of(panel));
    }
  } else {
    for (int first = 0; first < task.depth; first += kDepthBlock) {
      const int depth = task.depth - first < kDepthBlock ? task.depth - first : kDepthBlock;
      for (int panel = 0; panel < panels; ++panel) {
        const float* const weights = task.panels + panel * panel_floats + std::ptrdiff_t{first} * kPanel;
        const std::ptrdiff_t stride = panel < whole ? task.sum_stride : kPanel;
        for_each_tile(task.row_count, [&]<int kRows>(int row) {
          multiply_nt<kRows>({weights, depth, {task.rows + row * task.row_stride + first, task.row_stride}},
                             {sums_of(panel) + row * stride, stride, first > 0});
        });
      }
    }
  }
  const auto left = static_cast<std::size_t>(task.columns - whole * kPanel) * sizeof(float);
  for (int row = 0; left > 0 && row < task.row_count; ++row) {
    std::memcpy(task.sums + row * task.sum_stride + whole * kPanel, task.last_panel + row * kPanel, left);
  }
}

}  // namespace heed::kernels
