// Rows times a packed matrix (GEMM), by the register tile, and one row alone (GEMV).
#pragma once

#include <cstring>

#include "kernels/gemm/gemm_task.hpp"
#include "kernels/gemm/register_tile.hpp"

namespace heed::kernels {

/// GEMV: one row times kPanelsAtOnce panels. It is memory-bound, and a core reads several panels at once faster than
/// one after the other. Each sum is added up as multiply_nt() does, so a row alone has the bits that it has among
/// others.
[[gnu::noinline]] inline void multiply_row(const float* row, const float* panels, int depth, float* sums) {
  const std::ptrdiff_t stride = std::ptrdiff_t{depth} * kPanel;
  for (int first = 0; first < depth; first += kDepthBlock) {
    const int end = depth - first < kDepthBlock ? depth : first + kDepthBlock;
    RegisterTile<kPanelsAtOnce> tile;
    clear_tile<kPanelsAtOnce>(tile);
    for (int k = first; k < end; ++k) {
      const Batch number = Batch::broadcast(row[k]);
      const float* const panel_row = panels + std::ptrdiff_t{k} * kPanel;
      for (int p = 0; p < kPanelsAtOnce; ++p) {
        for (int vector = 0; vector < kPanelVectors; ++vector) {
          const Batch weights = Batch::load_aligned(panel_row + p * stride + vector * kLanes);
          tile[p][vector] = multiply_add(number, weights, tile[p][vector]);
        }
      }
    }
    for (int p = 0; p < kPanelsAtOnce; ++p) {
      for (int vector = 0; vector < kPanelVectors; ++vector) {
        float* const sum = sums + p * kPanel + vector * kLanes;
        if (first > 0) tile[p][vector] += Batch::load_unaligned(sum);
        tile[p][vector].store_unaligned(sum);
      }
    }
  }
}

/// Few rows meet so much of a panel before the next one: meanwhile the hardware prefetches what follows.
inline constexpr int kFewRowsDepth = 32;
static_assert(kDepthBlock % kFewRowsDepth == 0);

/// A block of the depth of kPanelsAtOnce panels, which begin `stride` apart.
struct PanelBlock {
  const float* panels;
  std::ptrdiff_t stride;
  int depth;
  FloatRows rows;
};

/// sums[kPanelsAtOnce][kFewRows][kPanel] += rows x panels, by parts of the depth.
template <int kRows>
[[gnu::noinline]] void add_products(const PanelBlock& block, float* sums) {
  const auto [panels, stride, depth, rows] = block;
  for (int k = 0; k < depth; k += kFewRowsDepth) {
    const int count = depth - k < kFewRowsDepth ? depth - k : kFewRowsDepth;
    float* sum = sums;
    const float* panel = panels + std::ptrdiff_t{k} * kPanel;
    for (int p = 0; p < kPanelsAtOnce; ++p, panel += stride, sum += kFewRows * kPanel) {
      RegisterTile<kRows> tile;
      for (int r = 0; r < kRows; ++r) {
        for (int vector = 0; vector < kPanelVectors; ++vector) {
          tile[r][vector] = Batch::load_aligned(sum + r * kPanel + vector * kLanes);
        }
      }
      accumulate_nt<kRows>(tile, {panel, count, {rows.data + k, rows.stride}});
      store_tile<kRows>(tile, sum);
    }
  }
}

/// 2 to kFewRows rows times kPanelsAtOnce panels. It is memory-bound likewise, so the panels are read alternately.
[[gnu::noinline]] inline void multiply_few_rows(const GemmTask& task, int panel) {
  const std::ptrdiff_t stride = std::ptrdiff_t{task.depth} * kPanel;
  const float* const panels = task.panels + panel * stride;
  alignas(kScratchAlignment) float block[kPanelsAtOnce][kFewRows * kPanel];
  for (int first = 0; first < task.depth; first += kDepthBlock) {
    const int depth = task.depth - first < kDepthBlock ? task.depth - first : kDepthBlock;
    std::memset(block, 0, sizeof block);
    for_each_tile(task.row_count, [&]<int kRows>(int row) {
      add_products<kRows>({panels + std::ptrdiff_t{first} * kPanel,
                           stride,
                           depth,
                           {task.rows + row * task.row_stride + first, task.row_stride}},
                          block[0] + row * kPanel);
    });
    for (int row = 0; row < task.row_count; ++row) {
      for (int p = 0; p < kPanelsAtOnce; ++p) {
        for (int vector = 0; vector < kPanelVectors; ++vector) {
          float* const sum = task.sums + row * task.sum_stride + (panel + p) * kPanel + vector * kLanes;
          Batch total = Batch::load_aligned(block[p] + row * kPanel + vector * kLanes);
          if (first > 0) total += Batch::load_unaligned(sum);
          total.store_unaligned(sum);
        }
      }
    }
  }
}

void packed_gemm(const GemmTask& task) {
  const int whole = task.columns / kPanel;
  const int panels = (task.columns + kPanel - 1) / kPanel;
  const std::ptrdiff_t panel_floats = std::ptrdiff_t{task.depth} * kPanel;
  const auto sums_of = [&](int panel) { return panel < whole ? task.sums + panel * kPanel : task.last_panel; };
  const auto left = static_cast<std::size_t>(task.columns - whole * kPanel) * sizeof(float);
  for (int row = 0; task.are_added && left > 0 && row < task.row_count; ++row) {
    std::memcpy(task.last_panel + row * kPanel, task.sums + row * task.sum_stride + whole * kPanel, left);
  }
  int begin = 0;
  for (; task.row_count <= kFewRows && !task.are_added && begin + kPanelsAtOnce <= whole; begin += kPanelsAtOnce) {
    if (task.row_count == 1) {
      multiply_row(task.rows, task.panels + begin * panel_floats, task.depth, sums_of(begin));
    } else {
      multiply_few_rows(task, begin);
    }
  }
  for (int first = 0; first < task.depth; first += kDepthBlock) {
    const int depth = task.depth - first < kDepthBlock ? task.depth - first : kDepthBlock;
    for (int panel = begin; panel < panels; ++panel) {
      const float* const weights = task.panels + panel * panel_floats + std::ptrdiff_t{first} * kPanel;
      const std::ptrdiff_t stride = panel < whole ? task.sum_stride : kPanel;
      for_each_tile(task.row_count, [&]<int kRows>(int row) {
        multiply_nt<kRows>({weights, depth, {task.rows + row * task.row_stride + first, task.row_stride}},
                           {sums_of(panel) + row * stride, stride, task.are_added || first > 0});
      });
    }
  }
  for (int row = 0; left > 0 && row < task.row_count; ++row) {
    std::memcpy(task.sums + row * task.sum_stride + whole * kPanel, task.last_panel + row * kPanel, left);
  }
}

}  // namespace heed::kernels
