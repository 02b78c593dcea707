// Rows times a matrix: what a score function makes of queries and keys before they meet. The tiles are attention's own.
#pragma once

#include "kernels/half.hpp"
#include "kernels/scores.hpp"
#include "kernels/weighted_sum.hpp"

namespace heed::kernels {

/// The rows of a panel's width from `first` on.
template <class Arch>
inline void project_panel(const ProjectionBlock& block, int first) {
  const int count = block.row_count - first < kPanel<Arch> ? block.row_count - first : kPanel<Arch>;
  LaneSource sources[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    sources[lane] = {block.rows[first + (lane < count ? lane : count - 1)].source, 1.0F};
  }
  float* const packed = block.scratch;
  float* const sums = packed + block.source_dim * kPanel<Arch>;
  pack_lanes<Arch>(sources, block.source_dim, packed);

  if (block.is_transposed) {
    // add_values() multiplies weights with values as this does sources with rows of the matrix.
    for (int i = 0; i < block.target_dim * kPanel<Arch>; ++i) sums[i] = 0.0F;
    Panel panel{};
    panel.output = sums;
    const Rescale<Arch> as_it_is{{Batch<Arch>(1.0F), Batch<Arch>(1.0F)}};
    WeightedValues rows;
    rows.add({{block.matrix, block.matrix_stride}, block.source_dim, packed});
    add_values<Arch>(panel, block.target_dim, rows, as_it_is);
  } else {
    alignas(kScratchAlignment) float maximum[kPanel<Arch>] = {};  // not asked for
    Panel panel{};
    panel.query = packed;
    score_keys<Arch>(panel, {block.source_dim, block.source_dim}, {block.matrix, block.matrix_stride}, block.target_dim,
                     sums, maximum);
  }
  for (int i = 0; block.offset && i < block.target_dim; ++i) {
    for (int lane = 0; lane < kPanel<Arch>; ++lane) sums[i * kPanel<Arch> + lane] += block.offset[i];
  }

  for (int first_lane = 0; first_lane < count; first_lane += kLanes<Arch>) {
    RowTargets<Arch> targets;
    for (int lane = 0; lane < kLanes<Arch> && first_lane + lane < count; ++lane) {
      targets.of[lane] = block.rows[first + first_lane + lane].target;
    }
    lanes_to_targets<Arch>(block.target_dim, sums + first_lane, Batch<Arch>(1.0F), targets);
  }
}

/// The identity instead of a matrix.
template <class Arch>
inline void offset_row(const SourceRow& row, const float* offset, int dim) {
  for (int i = 0; i < dim; i += kLanes<Arch>) {
    const int count = dim - i < kLanes<Arch> ? dim - i : kLanes<Arch>;
    store_some<Arch>(load_numbers<Arch>(row.source, i, count) + load_some<Arch>(offset + i, count), row.target + i,
                     count);
  }
}

/// See AttentionKernels.
template <class Arch>
void project(const ProjectionBlock& block) {
  if (!block.matrix) {
    for (int index = 0; index < block.row_count; ++index) {
      offset_row<Arch>(block.rows[index], block.offset, block.target_dim);
    }
    return;
  }
  for (int first = 0; first < block.row_count; first += kPanel<Arch>) project_panel<Arch>(block, first);
}

}  // namespace heed::kernels
