// QK^T of a panel: scores[j][lane] of its queries against some keys. Packs queries into the panel.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/memory/widen.hpp"
#include "kernels/simd/transpose.hpp"
#include "kernels/task/panel.hpp"
#include "kernels/task/score_constants.hpp"

namespace heed::kernels {

/// A row for a lane, and what multiplies it.
struct LaneSource {
  KvRow numbers;
  float factor;
};

/// Packs one row a lane as packed[dim][panel].
[[gnu::noinline]] inline void pack_lanes(const LaneSource* sources, int dim, float* packed) {
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    rows_to_lanes(dim, packed + first_lane, kPanel, [&](int lane, int i, int count) {
      const LaneSource& source = sources[first_lane + lane];
      return load_widened(source.numbers, i, count) * Batch(source.factor);
    });
  }
}

inline void pack_queries(const Panel& panel, int head_dim) {
  LaneSource sources[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) {
    const AttentionRow& row = panel.row(lane);
    sources[lane] = {row.query, row.query_factor};
  }
  pack_lanes(sources, head_dim, panel.query);
}

/// A dot product of `dim` dimensions, summed `depth` dimensions at a time.
struct DotSize {
  int dim;
  int depth;
};

/// Sums of 32 dimensions give a third less error in the outputs of few keys, which average the errors of few scores.
inline constexpr int kShortDepth = 32;

/// With so many keys one sum is exact enough: at 64 dimensions short ones cost 2 % of the time.
inline constexpr int kManyKeys = 257;

/// Makes the scores of `count` keys and raises row_max[panel] to the largest of them.
inline void score_keys(const Panel& panel, DotSize size, const FloatRows& keys, int count, float* scores,
                       float* row_max) {
  for (int first = 0; first < size.dim; first += size.depth) {
    const bool is_last = size.dim - first <= size.depth;
    const int depth = is_last ? size.dim - first : size.depth;
    for_each_tile(count, [&]<int kRows>(int row) {
      multiply_nt<kRows>({panel.query + first * kPanel, depth, {keys.row(row) + first, keys.stride}},
                         {scores + row * kPanel, kPanel, first > 0, is_last ? row_max : nullptr});
    });
  }
}

}  // namespace heed::kernels
