// What leaves a panel when its last key is done: outputs, weights, log-sum-exp.
#pragma once

#include <cmath>

#include "kernels/dropout.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/panel.hpp"
#include "kernels/transpose.hpp"
#include "kernels/weight.hpp"

namespace heed::kernels {

/// Copies a block of scores, times `factor`, into the rows' memory named by `target`: the
/// scores that are a result, and those that wait among the weights for the final maximum.
template <class Arch>
inline void park_scores(const Panel& panel, int first_key, int count, const float* scores,
                        float* AttentionRow::* target, float factor) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    RowTargets<Arch> targets;
    for (int lane = 0; lane < kLanes<Arch> && first_lane + lane < panel.row_count; ++lane) {
      float* const row = panel.rows[first_lane + lane].*target;
      if (row) targets.of[lane] = row + first_key;
    }
    lanes_to_targets<Arch>(count, scores + first_lane, Batch<Arch>(factor), targets);
  }
}

/// Turns one row's parked scores into weights.
template <class Arch>
inline void finish_weights(const AttentionRow& row, const AttentionBlock& block, const WeightRule& rule) {
  const Weight<Arch> weight_of(block.normalizer, kExp2OfResults);
  const RuleLanes<Arch> lanes{Batch<Arch>(rule.maximum), Batch<Arch>(rule.shift), Batch<Arch>(rule.factor)};
  const int end = row.key_end > row.key_begin ? row.key_end : row.key_begin;
  for (int j = 0; j < row.key_begin; ++j) row.weights[j] = 0.0F;
  for (int j = row.key_begin; j < end; j += kLanes<Arch>) {
    const int count = end - j < kLanes<Arch> ? end - j : kLanes<Arch>;
    const Batch<Arch> score = load_some<Arch>(row.weights + j, count);
    Batch<Arch> weight = weight_of(score, lanes);
    if (block.has_dropout) weight = drop_keys<Arch>(weight, row, block, j);
    store_some<Arch>(weight, row.weights + j, count);
  }
  for (int j = end; j < block.key_length; ++j) row.weights[j] = 0.0F;
}

/// What a row's weights are made of at the end: weight = 2^(score - maximum) * inverse_sum, before dropout.
struct RowEnd {
  float inverse_sum;
  float log_sum_exp;
  float entropy;
};

/// A row without a key gives zeros, sink or not, rather than 0 / 0. Where weights do not wait for their sum, the spread
/// is that of w ln w.
inline RowEnd end_row(const AttentionRow& row, Normalizer normalizer, float maximum, float sum, float spread) {
  if (normalizer != Normalizer::softmax) return {.inverse_sum = 1.0F, .log_sum_exp = 0.0F, .entropy = 0.0F - spread};
  if (sum == 0.0F) return {.inverse_sum = 0.0F, .log_sum_exp = kMasked, .entropy = 0.0F};
  // The usual row wants its output alone, and logarithms are what takes time here.
  if (row.sink == kMasked && !row.log_sum_exp && !row.entropy) {
    return {.inverse_sum = 1.0F / sum, .log_sum_exp = 0.0F, .entropy = 0.0F};
  }
  const float sink = row.sink * kLog2E;
  const float highest = sink > maximum ? sink : maximum;
  const float rescale = std::exp2(maximum - highest);
  const float total = sum * rescale + std::exp2(sink - highest);
  const float inverse = rescale / total;
  // -sum of w ln w, where ln w = (score - maximum) ln 2 + ln inverse; inverse itself may have
  // gone to zero under a sink that is far above the scores.
  const float ln_inverse = (maximum - highest) * kLn2 - std::log(total);
  const float entropy = 0.0F - inverse * (spread * kLn2 + sum * ln_inverse);
  return {.inverse_sum = inverse, .log_sum_exp = highest * kLn2 + std::log(total), .entropy = entropy};
}

/// Everything of a row's results but its output. Comes with what the rule lacks, its factor, which it returns: the
/// output lacks it as well.
template <class Arch>
inline float write_statistics(const AttentionRow& row, const AttentionBlock& block, WeightRule rule, float sum,
                              float spread) {
  const RowEnd end = end_row(row, block.normalizer, rule.maximum, sum, spread);
  rule.factor = end.inverse_sum * block.dropout_factor;
  if (row.weights) finish_weights<Arch>(row, block, rule);
  if (row.weight_rule && !block.weight_mod) *row.weight_rule = rule;
  if (row.log_sum_exp) *row.log_sum_exp = end.log_sum_exp;
  if (row.entropy) *row.entropy = end.entropy;
  return rule.factor;
}

template <class Arch>
inline void write_results(const Panel& panel, const AttentionBlock& block) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    alignas(kScratchAlignment) float factors[kLanes<Arch>] = {};
    RowTargets<Arch> targets;
    for (int lane = 0; lane < kLanes<Arch> && first_lane + lane < panel.row_count; ++lane) {
      const int index = first_lane + lane;
      const AttentionRow& row = panel.rows[index];
      const WeightRule rule{.maximum = panel.maximum[index],
                            .factor = 0.0F,
                            .shift = panel.shift[index],
                            .threshold = panel.threshold[index],
                            .last_best = panel.last_best[index]};
      factors[lane] = write_statistics<Arch>(row, block, rule, panel.sum[index], panel.spread[index]);
      targets.of[lane] = row.output;
    }
    lanes_to_targets<Arch>(block.value_dim, panel.output + first_lane, Batch<Arch>::load_aligned(factors), targets);
  }
}

}  // namespace heed::kernels
