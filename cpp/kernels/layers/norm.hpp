// LayerNorm and RMSNorm of rows.
#pragma once

#include "kernels/layers/moments.hpp"

namespace heed::kernels {

inline void normalize_row(const NormTask& task, int index) {
  const float* const row = task.source + index * task.source_stride;
  float* const target = task.target + index * task.target_stride;
  const RowMoments moments = exact_moments(task, row);
  const Batch factor(moments.factor), mean(moments.mean), to_scale(moments.scale);
  for (int i = 0; i < task.length; i += kLanes) {
    const int count = task.length - i < kLanes ? task.length - i : kLanes;
    Batch number = multiply_add(load_some(row + i, count), to_scale, -mean) * factor;
    if (task.weight != nullptr) number *= load_some(task.weight + i, count);
    if (task.bias != nullptr) number += load_some(task.bias + i, count);
    store_some(number, target + i, count);
  }
}

void normalize_rows(const NormTask& task) {
  for (int index = 0; index < task.row_count; ++index) normalize_row(task, index);
}

}  // namespace heed::kernels
