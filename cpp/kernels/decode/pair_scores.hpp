// Scores of squared differences and tanh sums with dimensions in lanes.
#pragma once

#include "kernels/decode/row_products.hpp"
#include "kernels/score/pair_scores.hpp"

namespace heed::kernels {

/// Makes the scores of all rows of the task, with dimensions in lanes.
template <class Pair>
[[gnu::noinline]] void score_pairs_of_query_as(const AttentionTask& task, const QueryKeyDots& input) {
  constexpr int lanes = kLanes;
  const Pair pair(task);
  const FloatRows keys = input.rows();
  for (int index = 0; index < task.row_count; ++index) {
    const float* const query = input.queries.from(index).numbers;
    for (int j = 0; j < input.count(); ++j) {
      const float* const key = keys.row(j);
      Batch sum(0.0F);
      for (int d = 0; d < input.head_dim; d += lanes) {
        const int left = input.head_dim - d;
        const Batch numbers = load_some(key + d, left < lanes ? left : lanes);
        sum = pair(Batch::load_aligned(query + d), numbers, pair.load_weights(d), sum);
      }
      input.scores.from(index).numbers[j] = xsimd::reduce_add(sum);
    }
  }
}

inline void score_pairs_of_query(const AttentionTask& task, const QueryKeyDots& input) {
  if (task.score.pairing == Pairing::tanh_sum) {
    score_pairs_of_query_as<TanhSums>(task, input);
  } else {
    score_pairs_of_query_as<SquaredDifferences>(task, input);
  }
}

}  // namespace heed::kernels
