// Turns the scores of a KV block into weights: by the online softmax, or by normalizers whose weights need nothing that
// is still to come.
#pragma once

#include <cmath>

#include "kernels/softmax/apply_row_stats.hpp"
#include "kernels/softmax/online_softmax.hpp"

namespace heed::kernels {

/// Sets row_max and row_sum before any key. A normalizer that divides by no sum has a sum of one and a row_max of zero.
inline void start_statistics(const Panel& panel, const AttentionTask& task) {
  const bool is_running =
      task.weight.normalizer == Normalizer::softmax || task.weight.normalizer == Normalizer::sparsemax;
  for (int lane = 0; lane < kPanel; ++lane) {
    panel.row_max[lane] = is_running ? kNoRowMax : 0.0F;
    panel.row_sum[lane] = is_running ? 0.0F : 1.0F;
    panel.entropy_sum[lane] = 0.0F;
  }
}

/// Adds w ln w to panel.entropy_sum: one by one, for few weights are not zero.
inline void add_w_log_w(const Panel& panel, const KeySpan& keys, const float* weights) {
  for (int i = 0; i < keys.lines() * kPanel; ++i) {
    if (weights[i] != 0.0F) panel.entropy_sum[i % kPanel] += weights[i] * std::log(weights[i]);
  }
}

/// Makes weights of what is known of the rows, and no sums.
inline void weigh_each(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  const float* const shift = task.weight.normalizer == Normalizer::sparsemax ? panel.shift : panel.row_max;
  alignas(kScratchAlignment) float ones[kPanel];
  for (float& one : ones) one = 1.0F;
  weigh_scores(task.weight.normalizer, kExp2OfResults, {panel.row_max, shift, ones}, keys.lines(), keys.scores);
  if (panel.rows[0].entropy) add_w_log_w(panel, keys, keys.scores);
}

/// Turns keys.scores into weights, as far as they can be before the last block. `row_max` is that of the block and of
/// all before.
inline Rescale make_weights(const Panel& panel, const AttentionTask& task, const KeyBlock& keys, const float* row_max,
                            bool has_masked) {
  if (task.weight.normalizer != Normalizer::softmax) {
    weigh_each(panel, task, keys);
    return {{Batch(1.0F), Batch(1.0F)}};
  }
  if (panel.rows[0].entropy) add_entropy_sum(panel, row_max, keys.lines(), keys.scores);
  return has_masked ? exponentiate<true>(panel, row_max, keys.lines(), keys.scores)
                    : exponentiate<false>(panel, row_max, keys.lines(), keys.scores);
}

/// Whether some weights of a block may be exact zeros, whose values do not count, whatever they are.
inline bool may_hold_zeros(const AttentionTask& task, bool has_masked) {
  return has_masked || task.weight.has_dropout || task.weight.normalizer != Normalizer::softmax;
}

}  // namespace heed::kernels
