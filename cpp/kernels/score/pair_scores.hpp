// Scores that are sums of something else than products: squared differences, and tanh sums, which are additive
// attention. The sum of a pair stays in registers.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/simd/tanh.hpp"
#include "kernels/simd/transpose.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// The difference comes first, so that a query close to a key has a distance that is right to its own last bits.
struct SquaredDifferences {
  static constexpr int kRows = kMR;

  explicit SquaredDifferences(const AttentionTask& /*task*/) {}

  [[nodiscard]] static Batch broadcast_weight(int /*d*/) { return {1.0F}; }
  [[nodiscard]] static Batch load_weights(int /*d*/) { return {1.0F}; }

  Batch operator()(Batch query, Batch key, Batch /*weight*/, Batch sum) const {
    const Batch apart = key - query;
    return multiply_add(apart, apart, sum);
  }
};

struct TanhSums {
  // The tanh keeps the arithmetic units busy, and the registers full.
  static constexpr int kRows = 1;

  explicit TanhSums(const AttentionTask& task) : weights(task.score.pair_weights) {}

  [[nodiscard]] Batch broadcast_weight(int d) const { return Batch::broadcast(weights[d]); }
  [[nodiscard]] Batch load_weights(int d) const { return Batch::load_aligned(weights + d); }

  Batch operator()(Batch query, Batch key, Batch weight, Batch sum) const {
    return multiply_add(weight, tanh(query + key), sum);
  }

  const float* weights;
  Tanh tanh;
};

/// Makes the scores of Pair::kRows keys, of which there are `count`; where they run out, the last one comes once more.
template <class Pair>
[[gnu::noinline]] void pair_tile(const Pair& pair, const TileOperands& input, int count, float* scores) {
  const float* key[Pair::kRows];
  for (int r = 0; r < Pair::kRows; ++r) key[r] = input.rows.row(r < count ? r : count - 1);
  RegisterTile<Pair::kRows> tile;
  clear_tile<Pair::kRows>(tile);
  accumulate<Pair::kRows>(
      tile, input.depth, input.panel, [&key](int r, int d) { return key[r] + d; },
      [&pair](int d, Batch query, Batch number, Batch sum) {
        return pair(query, number, pair.broadcast_weight(d), sum);
      });
  store_tile<Pair::kRows>(tile, scores);
}

/// Fills keys.scores with queries in lanes. key_block is a multiple of kMR, so that a last tile has room.
template <class Pair>
inline void score_pairs_of(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  const Pair pair(task);
  for (int j = 0; j < keys.count; j += Pair::kRows) {
    const TileOperands input{panel.query, task.head_dim, keys.numbers.from(j)};
    pair_tile<Pair>(pair, input, keys.count - j, keys.scores + j * kPanel);
  }
}

inline void score_pairs(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  if (task.score.pairing == Pairing::tanh_sum) {
    score_pairs_of<TanhSums>(panel, task, keys);
  } else {
    score_pairs_of<SquaredDifferences>(panel, task, keys);
  }
}

}  // namespace heed::kernels
