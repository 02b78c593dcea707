// What the backward pass of linear attention is given: one KV head, the query heads that read it and all columns of its
// state. Plain data.
#pragma once

#include "kernels/linear/linear_task.hpp"

namespace heed::kernels {

/// Tokens from one kept state to the next: the states between them are computed again from there.
inline constexpr int kBackwardChunk = 32;

/// Columns of the state that go through the tokens of a chunk together: their sums fit the registers, and their states
/// after each token of the chunk the first-level cache.
inline constexpr int kColumns = 4;

/// Rows of gradients, which are written; null: not wanted.
struct GradientRows {
  float* first;
  std::ptrdiff_t stride;
  std::ptrdiff_t head_stride = 0;
};

struct LinearBackwardTask {
  LinearTask forward;            // of which outputs, columns and scratch are not looked at
  const float* output_gradient;  // [heads][queries], value_dim numbers each
  std::ptrdiff_t output_gradient_stride, output_gradient_head_stride;
  const float* state_gradient;  // of the state after all tokens; null: zeros
  std::ptrdiff_t state_gradient_stride;

  GradientRows query, key, value;
  GradientRows decay;  // rows of one number unless the decay is wide
  GradientRows beta;   // rows of one number
  GradientRows state;  // of the state before all tokens

  float* scratch;  // linear_backward_floats(...), aligned to kScratchAlignment
};

/// The sizes of a task in its scratch memory.
struct LinearBackwardSizes {
  int chunks;       // of keys
  int row;          // head_dim, in whole panels
  int columns;      // of the values, in whole kColumns; where there is a normaliser, it is the column after them
  int all_columns;  // with the normaliser's
  int column_row;   // all_columns, in whole panels
};

inline LinearBackwardSizes linear_backward_sizes(int panel, const LinearTask& task) {
  const auto columns = static_cast<int>(round_up(task.value_dim, kColumns));
  const int all_columns = columns + (task.is_kernel ? kColumns : 0);
  return {.chunks = (task.keys + kBackwardChunk - 1) / kBackwardChunk,
          .row = static_cast<int>(linear_row_floats(panel, task.head_dim)),
          .columns = columns,
          .all_columns = all_columns,
          .column_row = static_cast<int>(round_up(all_columns, panel))};
}

/// The scratch memory of one worker: the states at the starts of chunks and at the end, and the state's gradient; the
/// states of kColumns columns within a chunk; rows of a chunk and of its gradients.
inline std::int64_t linear_backward_floats(int panel, const LinearTask& task) {
  const LinearBackwardSizes sizes = linear_backward_sizes(panel, task);
  const std::int64_t states = std::int64_t{sizes.chunks + 2} * sizes.all_columns * sizes.row;
  const std::int64_t rows = (std::int64_t{kColumns + 5 + 2 * task.heads} * kBackwardChunk + 1) * sizes.row;
  const std::int64_t column_rows = std::int64_t{2 + task.heads} * kBackwardChunk * sizes.column_row;
  const std::int64_t numbers = std::int64_t{kColumns + 2 + task.heads} * kBackwardChunk;
  return round_up(states + rows + column_rows + numbers, 16);
}

}  // namespace heed::kernels
