// The backward pass of additive scores. A score is v . tanh(q + k), so each of its terms has the gradient of the pair
// times v (1 - tanh^2), with respect to q and to k alike; there is no product to sum them by.
#pragma once

#include "kernels/simd/tanh.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// What the pairs of a panel and some keys add to; a null pointer leaves a gradient out.
struct TanhSumGradients {
  float* query;  // [head_dim][kPanel]
  float* key;    // rows, `key_stride` apart
  std::ptrdiff_t key_stride;
  float* weights;  // [head_dim], of v
  float scale;
};

/// `gradients` are those of the raw scores, [keys.count][kPanel].
[[gnu::noinline]] inline void differentiate_tanh_sums(const Panel& panel, const AttentionTask& task,
                                                      const KeyBlock& keys, const float* gradients,
                                                      const TanhSumGradients& to) {
  const Tanh tanh;
  const Batch zero(0.0F);
  for (int d = 0; d < task.head_dim; ++d) {
    const Batch weight(task.score.pair_weights[d] / task.score.raw_scale);
    for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
      const Batch query = Batch::load_aligned(panel.query + d * kPanel + first_lane);
      Batch of_query = zero;
      Batch of_weight = zero;
      for (int j = 0; j < keys.count; ++j) {
        const Batch gradient = Batch::load_aligned(gradients + j * kPanel + first_lane);
        const Batch tanh_of_sum = tanh(query + Batch(keys.numbers.row(j)[d]));
        const auto is_none = gradient == zero;  // a masked pair counts for nothing, NaN or not
        const Batch of_sum = xsimd::select(is_none, zero, (gradient - gradient * tanh_of_sum * tanh_of_sum) * weight);
        of_query += of_sum;
        of_weight += xsimd::select(is_none, zero, gradient * tanh_of_sum);
        if (to.key) to.key[j * to.key_stride + d] += xsimd::reduce_add(of_sum);
      }
      if (to.query) {
        float* const sum = to.query + d * kPanel + first_lane;
        (Batch::load_aligned(sum) + of_query).store_aligned(sum);
      }
      if (to.weights) to.weights[d] += to.scale * xsimd::reduce_add(of_weight);
    }
  }
}

}  // namespace heed::kernels
