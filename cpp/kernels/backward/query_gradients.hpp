// Sums the gradients of queries over the splits of the keys, in their order, and writes them as rows.
#pragma once

#include "kernels/backward/gradient_epilogue.hpp"

namespace heed::kernels {

void write_query_gradients(const QueryGradientTask& task) {
  const int floats = (task.dim + task.sum_lines) * kPanel;
  for (int split = 1; split < task.splits; ++split) {
    const float* const added = task.partials + split * task.split_stride;
    for (int i = 0; i < floats; i += kLanes) {
      float* const sum = task.partials + i;
      (Batch::load_aligned(sum) + Batch::load_aligned(added + i)).store_aligned(sum);
    }
  }
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    RowTargets targets;
    alignas(kScratchAlignment) float factors[kLanes] = {};
    for (int lane = 0; lane < kLanes && first_lane + lane < task.row_count; ++lane) {
      targets.of[lane] = task.rows[first_lane + lane].gradient;
      factors[lane] = task.rows[first_lane + lane].factor;
    }
    lanes_to_targets(task.dim, task.partials + first_lane, Batch::load_aligned(factors), targets);
  }
  for (int lane = 0; lane < task.row_count; ++lane) {
    QueryGradientRow& row = task.rows[lane];
    for (int line = 0; line < task.sum_lines; ++line) {
      row.sums[line] = task.partials[(task.dim + line) * kPanel + lane];
    }
    const bool has_sums = task.sum_lines > 0;
    row.product = has_sums       ? row.sums[1]
                  : row.gradient ? dot_rows(row.query, {row.gradient, DType::f32}, task.dim)
                                 : 0.0F;
    if (row.gradient) finish_gradient(row.epilogue, has_sums ? row.sums[0] : 0.0F, task.dim, row.gradient);
  }
}

}  // namespace heed::kernels
