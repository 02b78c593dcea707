// Scores of a panel's queries against a run of keys: scores[j][lane].
#pragma once

#include <numbers>

#include "kernels/broadcast_tile.hpp"
#include "kernels/half.hpp"
#include "kernels/panel.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// Scores are kept in units of log2(e), so that the softmax is powers of two.
inline constexpr float kLog2E = std::numbers::log2e_v<float>;
inline constexpr float kLn2 = std::numbers::ln2_v<float>;

template <class Arch>
inline void pack_queries(const Panel& panel, int head_dim, float scale) {
  const Batch<Arch> factor(scale * kLog2E);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    rows_to_lanes<Arch>(head_dim, panel.query + first_lane, kPanel<Arch>, [&](int lane, int i, int count) {
      return load_numbers<Arch>(panel.row(first_lane + lane).query, i, count) * factor;
    });
  }
}

/// Scores of kRows keys, and maximum[panel] raised to the largest of them: kept in memory, since
/// two more registers over the inner loop make V8 spill, which costs 5 %.
template <class Arch, int kRows>
[[gnu::noinline]] void score_tile(const TileInput& input, float* scores, float* maximum) {
  const float* key[kRows];
  for (int r = 0; r < kRows; ++r) key[r] = input.numbers + r * input.stride;
  Tile<Arch, kRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = Batch<Arch>(0.0F);
  accumulate<Arch, kRows>(tile, input.depth, input.panel, [&key](int r, int k) { return key[r] + k; });
  store_tile<Arch, kRows>(tile, scores);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    Batch<Arch> highest = Batch<Arch>::load_aligned(maximum + vector * kLanes<Arch>);
    for (int r = 0; r < kRows; ++r) highest = at_least<Arch>(tile[r][vector], highest);
    highest.store_aligned(maximum + vector * kLanes<Arch>);
  }
}

/// Fills scores for `count` keys and raises maximum[panel] to the largest of them.
template <class Arch>
inline void score_keys(const Panel& panel, int head_dim, const Lines& keys, int count, float* scores, float* maximum) {
  for_each_tile(count, [&]<int kRows>(int row) {
    const TileInput input{panel.query, head_dim, keys.line(row), keys.stride};
    score_tile<Arch, kRows>(input, scores + row * kPanel<Arch>, maximum);
  });
}

}  // namespace heed::kernels
