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

/// Makes the scores of kRows keys and raises row_max[panel] to the largest of them. row_max is kept in memory, since
/// two more registers over the inner loop make V8 spill, which costs 5 %.
template <int kRows>
[[gnu::noinline]] void score_tile(const TileOperands& input, int run, float* scores, float* row_max) {
  const float* key[kRows];
  for (int r = 0; r < kRows; ++r) key[r] = input.numbers + r * input.stride;
  RegisterTile<kRows> tile;
  int first = 0;
  do {
    for (auto& sums : tile) sums[0] = sums[1] = Batch(0.0F);
    const int depth = input.depth - first < run ? input.depth - first : run;
    accumulate<kRows>(tile, depth, input.panel + static_cast<std::ptrdiff_t>(first) * kPanel,
                      [&key, first](int r, int k) { return key[r] + first + k; });
    if (first > 0) add_tile<kRows>(scores, tile);
    store_tile<kRows>(tile, scores);
    first += run;
  } while (first < input.depth);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    Batch highest = Batch::load_aligned(row_max + vector * kLanes);
    for (int r = 0; r < kRows; ++r) highest = at_least(tile[r][vector], highest);
    highest.store_aligned(row_max + vector * kLanes);
  }
}

/// Makes the scores of `count` keys and raises row_max[panel] to the largest of them.
inline void score_keys(const Panel& panel, DotSize size, const FloatRows& keys, int count, float* scores,
                       float* row_max) {
  for_each_tile(count, [&]<int kRows>(int row) {
    const TileOperands input{panel.query, size.dim, keys.row(row), keys.stride};
    score_tile<kRows>(input, size.depth, scores + row * kPanel, row_max);
  });
}

}  // namespace heed::kernels
