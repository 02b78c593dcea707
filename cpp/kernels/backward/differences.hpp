// The backward pass of scores of squared differences (rbf, distance). A pair with the factor f adds f (k - q) to the
// gradient of its query and f (q - k) to that of its key. The difference comes first, as in the scores: sums of f k and
// f q cancel where a key lies close to the query, or both far from zero.
#pragma once

#include "kernels/memory/kv_rows.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// sum + factor * difference. A pair whose factor is zero counts for nothing, NaN or not.
inline Batch add_difference(Batch factor, Batch difference, Batch sum) {
  const Batch zero(0.0F);
  return multiply_add(factor, xsimd::select(factor == zero, zero, difference), sum);
}

/// The factors of a panel and some keys, [count][kPanel], and the keys.
struct DifferenceFactors {
  const float* numbers;
  int count;
  FloatRows keys;
};

/// gradient[dim][kPanel] += what some keys add to the queries of a panel.
[[gnu::noinline]] inline void add_query_differences(const Panel& panel, int dim, const DifferenceFactors& factors,
                                                    float* gradient) {
  for (int d = 0; d < dim; ++d) {
    const float* const query = panel.query + d * kPanel;
    float* const target = gradient + d * kPanel;
    const Batch first = Batch::load_aligned(query);
    const Batch second = Batch::load_aligned(query + kLanes);
    Batch sum[kPanelVectors] = {Batch::load_aligned(target), Batch::load_aligned(target + kLanes)};
    for (int j = 0; j < factors.count; ++j) {
      const float* const factor = factors.numbers + j * kPanel;
      const Batch key = Batch::broadcast(factors.keys.row(j)[d]);
      sum[0] = add_difference(Batch::load_aligned(factor), key - first, sum[0]);
      sum[1] = add_difference(Batch::load_aligned(factor + kLanes), key - second, sum[1]);
    }
    sum[0].store_aligned(target);
    sum[1].store_aligned(target + kLanes);
  }
}

/// gradient[key][dim] += what the queries of a panel add to some keys. Both are aligned rows of one stride.
[[gnu::noinline]] inline void add_key_differences(const Panel& panel, int dim, const DifferenceFactors& factors,
                                                  const FloatRows& queries, float* gradient) {
  for (int j = 0; j < factors.count; ++j) {
    for (int column = 0; column < dim; column += kPanel) {
      alignas(kScratchAlignment) float key[kPanel] = {};
      for (int d = column; d < dim && d < column + kPanel; ++d) key[d - column] = factors.keys.row(j)[d];
      float* const target = gradient + j * queries.stride + column;
      const Batch first = Batch::load_aligned(key);
      const Batch second = Batch::load_aligned(key + kLanes);
      Batch sum[kPanelVectors] = {Batch::load_aligned(target), Batch::load_aligned(target + kLanes)};
      for (int lane = 0; lane < panel.row_count; ++lane) {
        const float* const query = queries.row(lane) + column;
        const Batch factor = Batch::broadcast(factors.numbers[j * kPanel + lane]);
        sum[0] = add_difference(factor, Batch::load_aligned(query) - first, sum[0]);
        sum[1] = add_difference(factor, Batch::load_aligned(query + kLanes) - second, sum[1]);
      }
      sum[0].store_aligned(target);
      sum[1].store_aligned(target + kLanes);
    }
  }
}

}  // namespace heed::kernels
