// Scores of a panel's queries against a run of keys: scores[j][lane].
#pragma once

#include "kernels/broadcast_tile.hpp"
#include "kernels/half.hpp"
#include "kernels/panel.hpp"
#include "kernels/score_units.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// A vector for a lane, and what multiplies it.
struct LaneSource {
  Numbers numbers;
  float factor;
};

/// packed[dim][panel], from one source a lane.
template <class Arch>
[[gnu::noinline]] void pack_lanes(const LaneSource* sources, int dim, float* packed) {
  for (int first_lane = 0; first_lane < kPanel<Arch>; first_lane += kLanes<Arch>) {
    rows_to_lanes<Arch>(dim, packed + first_lane, kPanel<Arch>, [&](int lane, int i, int count) {
      const LaneSource& source = sources[first_lane + lane];
      return load_numbers<Arch>(source.numbers, i, count) * Batch<Arch>(source.factor);
    });
  }
}

template <class Arch>
inline void pack_queries(const Panel& panel, int head_dim) {
  LaneSource sources[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    const AttentionRow& row = panel.row(lane);
    sources[lane] = {row.query, row.query_factor};
  }
  pack_lanes<Arch>(sources, head_dim, panel.query);
}

/// A product of `dim` dimensions, summed in runs of `run`.
struct DotSize {
  int dim;
  int run;
};

/// Short runs are a third less error in the outputs of few keys, which average the errors of few scores.
inline constexpr int kShortRun = 32;

/// From so many keys on one run does: short ones take 2 % of the time at 64 dimensions.
inline constexpr int kManyKeys = 257;

/// Scores of kRows keys, and maximum[panel] raised to the largest of them: kept in memory, since
/// two more registers over the inner loop make V8 spill, which costs 5 %.
template <class Arch, int kRows>
[[gnu::noinline]] void score_tile(const TileInput& input, int run, float* scores, float* maximum) {
  const float* key[kRows];
  for (int r = 0; r < kRows; ++r) key[r] = input.numbers + r * input.stride;
  Tile<Arch, kRows> tile;
  int first = 0;
  do {
    for (auto& sums : tile) sums[0] = sums[1] = Batch<Arch>(0.0F);
    const int depth = input.depth - first < run ? input.depth - first : run;
    accumulate<Arch, kRows>(tile, depth, input.panel + static_cast<std::ptrdiff_t>(first) * kPanel<Arch>,
                            [&key, first](int r, int k) { return key[r] + first + k; });
    if (first > 0) add_tile<Arch, kRows>(scores, tile);
    store_tile<Arch, kRows>(tile, scores);
    first += run;
  } while (first < input.depth);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    Batch<Arch> highest = Batch<Arch>::load_aligned(maximum + vector * kLanes<Arch>);
    for (int r = 0; r < kRows; ++r) highest = at_least<Arch>(tile[r][vector], highest);
    highest.store_aligned(maximum + vector * kLanes<Arch>);
  }
}

/// Fills scores for `count` keys and raises maximum[panel] to the largest of them.
template <class Arch>
inline void score_keys(const Panel& panel, DotSize size, const Lines& keys, int count, float* scores, float* maximum) {
  for_each_tile(count, [&]<int kRows>(int row) {
    const TileInput input{panel.query, size.dim, keys.line(row), keys.stride};
    score_tile<Arch, kRows>(input, size.run, scores + row * kPanel<Arch>, maximum);
  });
}

}  // namespace heed::kernels
