// Scores that are sums over the dimensions, as products are, of something else: squared differences, and bent sums,
// which is to say additive attention. Sums of one pair are kept in registers and nothing of theirs is stored.
#pragma once

#include "kernels/key_block.hpp"
#include "kernels/panel.hpp"
#include "kernels/row_products.hpp"
#include "kernels/tanh.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// Differences first, so that a query close to a key has a distance that is right to its own last bits.
template <class A>
struct SquaredDifferences {
  using Arch = A;
  static constexpr int kRows = kTileRows;

  explicit SquaredDifferences(const AttentionBlock& /*block*/) {}

  [[nodiscard]] Batch<A> broadcast_weight(int /*d*/) const { return Batch<A>(1.0F); }
  [[nodiscard]] Batch<A> load_weights(int /*d*/) const { return Batch<A>(1.0F); }

  Batch<A> operator()(Batch<A> query, Batch<A> key, Batch<A> /*weight*/, Batch<A> sum) const {
    const Batch<A> apart = key - query;
    return multiply_add<A>(apart, apart, sum);
  }
};

template <class A>
struct BentSums {
  using Arch = A;
  // The tangent keeps the arithmetic units busy, and the registers full.
  static constexpr int kRows = 1;

  explicit BentSums(const AttentionBlock& block) : weights(block.pair_weights) {}

  [[nodiscard]] Batch<A> broadcast_weight(int d) const { return Batch<A>::broadcast(weights[d]); }
  [[nodiscard]] Batch<A> load_weights(int d) const { return Batch<A>::load_aligned(weights + d); }

  Batch<A> operator()(Batch<A> query, Batch<A> key, Batch<A> weight, Batch<A> sum) const {
    return multiply_add<A>(weight, tanh(query + key), sum);
  }

  const float* weights;
  Tanh<A> tanh;
};

/// Scores of Pair::kRows keys, of which there are `count`; where they run out, those of the last one once more.
template <class Pair>
[[gnu::noinline]] void pair_tile(const Pair& pair, const TileInput& input, int count, float* scores) {
  using Arch = typename Pair::Arch;
  const float* key[Pair::kRows];
  for (int r = 0; r < Pair::kRows; ++r) key[r] = input.numbers + (r < count ? r : count - 1) * input.stride;
  Tile<Arch, Pair::kRows> tile;
  for (auto& sums : tile) sums[0] = sums[1] = Batch<Arch>(0.0F);
  const float* query = input.panel;
  for (int d = 0; d < input.depth; ++d, query += kPanel<Arch>) {
    const Batch<Arch> first = Batch<Arch>::load_aligned(query);
    const Batch<Arch> second = Batch<Arch>::load_aligned(query + kLanes<Arch>);
    const Batch<Arch> weight = pair.broadcast_weight(d);
    for (int r = 0; r < Pair::kRows; ++r) {
      const Batch<Arch> number = Batch<Arch>::broadcast(key[r][d]);
      tile[r][0] = pair(first, number, weight, tile[r][0]);
      tile[r][1] = pair(second, number, weight, tile[r][1]);
    }
  }
  store_tile<Arch, Pair::kRows>(tile, scores);
}

/// Fills keys.scores, with rows in lanes. key_block is a multiple of kTileRows, so that a last tile has room.
template <class Pair>
inline void score_pairs_of(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Pair pair(block);
  for (int j = 0; j < keys.count; j += Pair::kRows) {
    const TileInput input{panel.query, block.head_dim, keys.numbers.line(j), keys.numbers.stride};
    pair_tile<Pair>(pair, input, keys.count - j, keys.scores + j * kPanel<typename Pair::Arch>);
  }
}

template <class Arch>
inline void score_pairs(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  if (block.pairing == Pairing::bend) return score_pairs_of<BentSums<Arch>>(panel, block, keys);
  score_pairs_of<SquaredDifferences<Arch>>(panel, block, keys);
}

/// Scores of the block's rows, with dimensions in lanes.
template <class Pair>
[[gnu::noinline]] void score_row_pairs_of(const AttentionBlock& block, const RowDots& input) {
  using Arch = typename Pair::Arch;
  constexpr int lanes = kLanes<Arch>;
  const Pair pair(block);
  const Lines keys = input.lines();
  for (int index = 0; index < block.row_count; ++index) {
    const float* const query = input.queries.from(index).numbers;
    for (int j = 0; j < input.count(); ++j) {
      const float* const key = keys.line(j);
      Batch<Arch> sum(0.0F);
      for (int d = 0; d < input.head_dim; d += lanes) {
        const int left = input.head_dim - d;
        const Batch<Arch> numbers = load_some<Arch>(key + d, left < lanes ? left : lanes);
        sum = pair(Batch<Arch>::load_aligned(query + d), numbers, pair.load_weights(d), sum);
      }
      input.scores.from(index).numbers[j] = xsimd::reduce_add(sum);
    }
  }
}

template <class Arch>
inline void score_row_pairs(const AttentionBlock& block, const RowDots& input) {
  if (block.pairing == Pairing::bend) return score_row_pairs_of<BentSums<Arch>>(block, input);
  score_row_pairs_of<SquaredDifferences<Arch>>(block, input);
}

}  // namespace heed::kernels
