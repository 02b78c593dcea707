// What the GEMMs are given.
#pragma once

#include <cstddef>

#include "kernels/simd/width.hpp"

namespace heed::kernels {

/// Rows times a packed matrix: panels[panel][depth][kPanel], with zeros beyond the last column.
struct GemmTask {
  const float* rows;
  std::ptrdiff_t row_stride;
  int row_count;
  const float* panels;
  int depth;
  int columns;  // of the panels, the last one perhaps in part
  float* sums;  // [row_count] rows of `columns`, sum_stride apart
  std::ptrdiff_t sum_stride;
  float* last_panel;       // [row_count][kPanel], aligned: scratch memory for the one that is not whole
  bool are_added = false;  // to what is there
};

void packed_gemm(const GemmTask& task);

/// Up to so many rows wait for a packed matrix to come from memory, and read so many of its panels at once.
inline constexpr int kFewRows = 16;
inline constexpr int kPanelsAtOnce = 6;

/// sums = left right + addend, of matrices as they lie.
struct StridedGemmTask {
  const float* left;  // rows of `depth` numbers; transposed: `depth` rows, of which the columns are multiplied
  std::ptrdiff_t left_stride;
  bool is_transposed;
  int row_count;
  int depth;
  const float* right;  // `depth` rows of `columns` numbers
  std::ptrdiff_t right_stride;
  int columns;
  const float* addend;  // null: zeros
  std::ptrdiff_t addend_stride;
  float* sums;
  std::ptrdiff_t sum_stride;
  float* panel;       // kDepthBlock rows of kPanel, aligned: scratch memory
  float* last_panel;  // [row_count][kPanel], likewise
  float* left_block;  // likewise, row_count rows of kLeftStride, where `left` is transposed
};

/// The depth of a panel that passes all rows: 16 KB, half of a first-level cache; six rows of that depth fit beside it.
inline constexpr int kDepthBlock = 4096 / kPanel;

/// Rows at multiples of 2 KiB would share a few places of the first-level cache.
inline constexpr int kLeftStride = kDepthBlock + kScratchAlignment / sizeof(float);

}  // namespace heed::kernels
