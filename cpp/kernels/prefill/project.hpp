// Rows times a matrix: the projections of score functions, by the tiles of QK^T and PV.
#pragma once

#include "kernels/memory/widen.hpp"
#include "kernels/prefill/pv_product.hpp"
#include "kernels/prefill/qk_product.hpp"

namespace heed::kernels {

/// Projects the rows of a panel from `first` on.
inline void project_panel(const ProjectionTask& task, int first) {
  const int count = task.row_count - first < kPanel ? task.row_count - first : kPanel;
  LaneSource sources[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    sources[lane] = {task.rows[first + (lane < count ? lane : count - 1)].source, 1.0F};
  }
  float* const packed = task.scratch;
  float* const sums = packed + task.source_dim * kPanel;
  pack_lanes(sources, task.source_dim, packed);

  const FloatRows matrix{task.matrix, task.matrix_stride};
  if (task.is_transposed) {
    WeightedValues rows;
    rows.add({packed, task.source_dim, matrix});
    for_each_tile(task.target_dim, [&]<int kRows>(int row) {
      multiply_nn<kRows, MultiplyAdd>(rows, row, nullptr, sums + row * kPanel);
    });
  } else {
    for_each_tile(task.target_dim, [&]<int kRows>(int row) {
      multiply_nt<kRows>({packed, task.source_dim, matrix.from(row)}, {sums + row * kPanel, kPanel});
    });
  }
  for (int i = 0; task.offset && i < task.target_dim; ++i) {
    for (int lane = 0; lane < kPanel; ++lane) sums[i * kPanel + lane] += task.offset[i];
  }

  for (int first_lane = 0; first_lane < count; first_lane += kLanes) {
    RowTargets targets;
    for (int lane = 0; lane < kLanes && first_lane + lane < count; ++lane) {
      targets.of[lane] = task.rows[first + first_lane + lane].target;
    }
    lanes_to_targets(task.target_dim, sums + first_lane, Batch(1.0F), targets);
  }
}

/// Without a matrix a row is only offset.
inline void offset_row(const SourceRow& row, const float* offset, int dim) {
  for (int i = 0; i < dim; i += kLanes) {
    const int count = dim - i < kLanes ? dim - i : kLanes;
    store_some(load_widened(row.source, i, count) + load_some(offset + i, count), row.target + i, count);
  }
}

void project(const ProjectionTask& task) {
  if (!task.matrix) {
    for (int index = 0; index < task.row_count; ++index) {
      offset_row(task.rows[index], task.offset, task.target_dim);
    }
    return;
  }
  for (int first = 0; first < task.row_count; first += kPanel) project_panel(task, first);
}

}  // namespace heed::kernels
