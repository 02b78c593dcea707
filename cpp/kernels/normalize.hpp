// From the scores of a block to its weights, by whatever normalizer: the running softmax, or those whose weights need
// nothing that is still to come.
#pragma once

#include <cmath>

#include "kernels/online_softmax.hpp"
#include "kernels/weigh_lines.hpp"

namespace heed::kernels {

/// Before any key. Where nothing is divided by a sum, it is as if there were one already, under a maximum of zero.
template <class Arch>
inline void start_statistics(const Panel& panel, const AttentionBlock& block) {
  const bool is_running = block.normalizer == Normalizer::softmax || block.normalizer == Normalizer::sparsemax;
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    panel.maximum[lane] = is_running ? kNoMaximum : 0.0F;
    panel.sum[lane] = is_running ? 0.0F : 1.0F;
    panel.spread[lane] = 0.0F;
  }
}

/// Adds w ln w to panel.spread. Of few weights that are not zero, so one by one.
template <class Arch>
inline void add_logarithms(const Panel& panel, const KeyLines& keys, const float* weights) {
  for (int i = 0; i < keys.lines() * kPanel<Arch>; ++i) {
    if (weights[i] != 0.0F) panel.spread[i % kPanel<Arch>] += weights[i] * std::log(weights[i]);
  }
}

/// Weights by what is known of the rows, and no sums.
template <class Arch>
inline void weigh_each(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const float* const shift = block.normalizer == Normalizer::sparsemax ? panel.shift : panel.maximum;
  alignas(kScratchAlignment) float ones[kPanel<Arch>];
  for (float& one : ones) one = 1.0F;
  weigh_lines<Arch>(block.normalizer, kExp2OfResults, {panel.maximum, shift, ones}, keys.lines(), keys.scores);
  if (panel.rows[0].entropy) add_logarithms<Arch>(panel, keys, keys.scores);
}

/// Turns keys.scores into weights, as far as they can be before the last block. `maximum` is that of the block and of
/// all before.
template <class Arch>
inline Rescale<Arch> make_weights(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys,
                                  const float* maximum, bool has_masked) {
  if (block.normalizer != Normalizer::softmax) {
    weigh_each<Arch>(panel, block, keys);
    return {{Batch<Arch>(1.0F), Batch<Arch>(1.0F)}};
  }
  if (panel.rows[0].entropy) add_spread<Arch>(panel, maximum, keys.lines(), keys.scores);
  return has_masked ? exponentiate<Arch, true>(panel, maximum, keys.lines(), keys.scores)
                    : exponentiate<Arch, false>(panel, maximum, keys.lines(), keys.scores);
}

/// Whether some of a block's weights may be exact zeros, whose values do not count, whatever they are.
inline bool may_hold_zeros(const AttentionBlock& block, bool has_masked) {
  return has_masked || block.has_dropout || block.normalizer != Normalizer::softmax;
}

}  // namespace heed::kernels
