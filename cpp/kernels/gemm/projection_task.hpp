// What the projection kernel is given: rows, a matrix and where the products go.
#pragma once

#include "kernels/memory/kv_rows.hpp"

namespace heed::kernels {

/// A row, and where its product goes.
struct SourceRow {
  KvRow source;
  float* target;
};

/// target = matrix source + offset, for up to kMaxRows rows.
struct ProjectionTask {
  const SourceRow* rows;
  int row_count;
  int source_dim;
  int target_dim;
  const float* matrix;  // [target_dim, source_dim], or, transposed, [source_dim, target_dim]; null: the identity
  std::ptrdiff_t matrix_stride;
  bool is_transposed;
  const float* offset;  // target_dim of them; null: none
  float* scratch;       // projection_scratch_floats(...), aligned to kScratchAlignment
};

constexpr std::int64_t projection_scratch_floats(int panel, std::int64_t source_dim, std::int64_t target_dim) {
  return panel * (source_dim + target_dim);
}

}  // namespace heed::kernels
