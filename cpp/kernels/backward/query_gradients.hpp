// Sums the gradients of queries over the splits of the keys, in their order, and writes them as rows.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "kernels/backward/row_delta.hpp"

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
    row.product = row.gradient ? dot_rows(row.query, {row.gradient, DType::f32}, task.dim) : 0.0F;
    for (int line = 0; line < task.sum_lines; ++line) {
      row.sums[line] = task.partials[(task.dim + line) * kPanel + lane];
    }
  }
}

void add_row(KvRow source, float factor, int dim, float* target) {
  if (factor == 0.0F) return;
  for (int i = 0; i < dim; i += kLanes) {
    const int count = dim - i < kLanes ? dim - i : kLanes;
    const Batch sum = load_some(target + i, count);
    store_some(multiply_add(load_widened(source, i, count), Batch(factor), sum), target + i, count);
  }
}

}  // namespace heed::kernels
