// The gradients of the parameters of score functions. Each is a sum over rows of the outer product of a row and the
// gradient of what the parameter made of it.
#pragma once

#include "kernels/backward/gradient_epilogue.hpp"
#include "kernels/backward/outer_products.hpp"
#include "kernels/backward/parameter_task.hpp"
#include "kernels/prefill/qk_product.hpp"

namespace heed::kernels {

inline bool is_zero(const float* row, int dim) {
  for (int i = 0; i < dim; ++i) {
    if (row[i] != 0.0F) return false;
  }
  return true;
}

/// Adds the outer products of the rows from `first` on, up to kMaxRows.
inline void add_parameter_block(const ParameterTask& task, int first) {
  const int lines = task.is_transposed ? task.row_dim : task.gradient_dim;
  const int columns = task.is_transposed ? task.gradient_dim : task.row_dim;
  const int count = task.count - first < kMaxRows ? task.count - first : kMaxRows;
  const std::ptrdiff_t panel_floats = std::ptrdiff_t{lines} * kPanel;
  const RowCopies copies{task.scratch + std::ptrdiff_t{kMaxRows} * lines, padded_dim(columns)};
  int panels = 0;
  for (; panels * kPanel < count; ++panels) {
    float* const panel = task.scratch + panels * panel_floats;
    LaneSource sources[kPanel];
    bool is_used[kPanel];
    for (int lane = 0; lane < kPanel; ++lane) {
      const int index = panels * kPanel + lane;
      const std::ptrdiff_t at = first + (index < count ? index : count - 1);
      const float* const gradient = task.gradients + at * task.gradient_stride;
      const KvRow row = task.rows.from(at * task.row_stride);
      const KvRow of_row(gradient, DType::f32);
      // A row without a gradient, as a query without a key, is not read, NaN or not.
      is_used[lane] = index < count && !is_zero(gradient, task.gradient_dim);
      sources[lane] = {task.is_transposed ? row : of_row, 1.0F};
      const KvRow other = task.is_transposed ? of_row : row;
      copies.copy(index, is_used[lane] ? other : KvRow(), columns, 1.0F);
    }
    pack_lanes(sources, lines, panel);
    for (int lane = 0; lane < kPanel; ++lane) {
      for (int line = 0; !is_used[lane] && line < lines; ++line) panel[line * kPanel + lane] = 0.0F;
    }
  }
  add_outer_products({{task.scratch, panel_floats, panels, copies.from(0)},
                      lines,
                      static_cast<int>(copies.stride),
                      copies.are_finite(panels * kPanel)},
                     task.sums);
}

void add_parameter_gradients(const ParameterTask& task) {
  const bool is_vector = task.gradient_dim == 1 && !task.is_transposed;
  for (std::ptrdiff_t i = 0; is_vector && i < task.count; ++i) {
    add_row(task.rows.from(i * task.row_stride), task.gradients[i * task.gradient_stride], task.row_dim, task.sums);
  }
  for (int first = 0; !is_vector && first < task.count; first += kMaxRows) add_parameter_block(task, first);
}

double add_numbers(const float* numbers, std::ptrdiff_t stride, std::int64_t count, double sum) {
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(numbers[i * stride]);
  return sum;
}

float bandwidth_gradient(float bandwidth, double products) {
  return static_cast<float>(-2.0 * products / static_cast<double>(bandwidth));
}

}  // namespace heed::kernels
