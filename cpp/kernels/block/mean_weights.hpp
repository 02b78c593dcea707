// The second pass of the mean of the weights over the heads, for one KV block: its scores become weights again, by the
// RowStats that the first pass left, times 1 / heads. The kernels add them to the mean.
#pragma once

#include "kernels/simd/transpose.hpp"
#include "kernels/softmax/apply_row_stats.hpp"
#include "kernels/softmax/dropout.hpp"
#include "kernels/task/key_block.hpp"

namespace heed::kernels {

/// Turns scores[lines][panel] into what they add to the mean.
inline void weigh(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  if (task.weight.mod) {
    const Batch factor(task.weight.head_weight * task.weight.dropout_factor);
    const Batch masked(kMasked);
    change_scores(keys.lines(), keys.scores, [&](Batch weight, int, int) {
      return xsimd::select(weight == masked, Batch(0.0F), weight * factor);
    });
  } else {
    apply_row_stats(panel, task.weight.normalizer, task.weight.head_weight, keys.lines(), keys.scores);
  }
  if (task.weight.has_dropout) drop_weights(panel, task, keys, keys.scores);
}

inline void add_some(Batch weights, int count, float* mean) {
  store_some(load_some(mean, count) + weights, mean, count);
}

}  // namespace heed::kernels
