// A pointwise rule in the form that the kernel takes.
#pragma once

#include "heed/pointwise.hpp"
#include "kernels/layers/layer_tasks.hpp"

namespace heed {

inline kernels::RepeatedRows repeated(const Rows<const float>& rows, Index first_column) {
  if (!rows.is_present()) return {nullptr, 0, 1};
  return {rows.data + first_column, static_cast<std::ptrdiff_t>(rows.stride), static_cast<std::ptrdiff_t>(rows.count)};
}

/// Describes `row_count` rows from `first_row` on, and `columns` of their numbers from `first_column` on, without
/// source and target.
inline kernels::PointwiseTask pointwise_task(const Pointwise& rule, Index first_row, Index row_count,
                                             Index first_column, Index columns) {
  kernels::PointwiseTask task{};
  task.first_row = static_cast<std::ptrdiff_t>(first_row);
  task.row_count = static_cast<int>(row_count);
  task.length = static_cast<int>(columns);
  task.activation = rule.activation;
  task.bias = rule.bias == nullptr ? nullptr : rule.bias + first_column;
  task.factor = repeated(rule.factor, first_column);
  task.addend = repeated(rule.addend, first_column);
  return task;
}

}  // namespace heed
