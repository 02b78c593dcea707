// What the packed GEMM is given.
#pragma once

#include <cstddef>

namespace heed::kernels {

/// Rows times a packed matrix: panels[panel][depth][kPanel], with zeros beyond the last column.
struct GemmTask {
  const float* rows;
  std::ptrdiff_t row_stride;
  int row_count;
  bool is_single;  // the call has one row in all
  const float* panels;
  int depth;
  int columns;  // of the panels, the last one perhaps in part
  float* sums;  // [row_count] rows of `columns`, sum_stride apart
  std::ptrdiff_t sum_stride;
  float* last_panel;  // [row_count][kPanel], aligned: scratch memory for the one that is not whole
};

}  // namespace heed::kernels
