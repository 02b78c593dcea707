// What a panel writes when its last key is done: outputs, weights, log-sum-exp, entropy.
#pragma once

#include <cmath>

#include "kernels/simd/transpose.hpp"
#include "kernels/softmax/dropout.hpp"
#include "kernels/softmax/online_softmax.hpp"
#include "kernels/softmax/weight.hpp"
#include "kernels/task/panel.hpp"
#include "kernels/task/score_constants.hpp"

namespace heed::kernels {

/// Copies a block of scores, times `factor`, into the memory of the rows named by `target`: the scores that are a
/// result, and those that wait among the weights for the final row_max.
inline void store_scores(const Panel& panel, int first_key, int count, const float* scores,
                         float* AttentionRow::* target, float factor) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    RowTargets targets;
    for (int lane = 0; lane < kLanes && first_lane + lane < panel.row_count; ++lane) {
      float* const row = panel.rows[first_lane + lane].*target;
      if (row) targets.of[lane] = row + first_key;
    }
    lanes_to_targets(count, scores + first_lane, Batch(factor), targets);
  }
}

/// Turns the stored scores of a row into weights.
inline void weigh_stored_scores(const AttentionRow& row, const AttentionTask& task, const RowStats& rule) {
  const Weight weight_of(task.weight.normalizer, kExp2OfResults);
  const RowStatsLanes lanes{Batch(rule.row_max), Batch(rule.shift), Batch(rule.factor)};
  const int end = row.key_end > row.key_begin ? row.key_end : row.key_begin;
  for (int j = 0; j < row.key_begin; ++j) row.weights[j] = 0.0F;
  for (int j = row.key_begin; j < end; j += kLanes) {
    const int count = end - j < kLanes ? end - j : kLanes;
    const Batch score = load_some(row.weights + j, count);
    Batch weight = weight_of(score, lanes);
    if (task.weight.has_dropout) weight = drop_keys(weight, row, task, j);
    store_some(weight, row.weights + j, count);
  }
  for (int j = end; j < task.key_length; ++j) row.weights[j] = 0.0F;
}

/// The end of a row: weight = 2^(score - row_max) * inverse_sum, before dropout.
struct RowSummary {
  float inverse_sum;
  float log_sum_exp;
  float entropy;
};

/// A row without a key gives zeros, sink or not, rather than 0 / 0. Where weights do not wait for their sum,
/// entropy_sum is that of w ln w.
inline RowSummary summarize_row(const AttentionRow& row, Normalizer normalizer, float row_max, float sum,
                                float entropy_sum) {
  if (normalizer != Normalizer::softmax)
    return {.inverse_sum = 1.0F, .log_sum_exp = 0.0F, .entropy = 0.0F - entropy_sum};
  if (sum == 0.0F) return {.inverse_sum = 0.0F, .log_sum_exp = kMasked, .entropy = 0.0F};
  // The usual row wants its output alone, and logarithms are what takes time here.
  if (row.sink == kMasked && !row.log_sum_exp && !row.entropy) {
    return {.inverse_sum = 1.0F / sum, .log_sum_exp = 0.0F, .entropy = 0.0F};
  }
  const float sink = row.sink * kLog2E;
  const float highest = sink > row_max ? sink : row_max;
  const float rescale = std::exp2(row_max - highest);
  const float total = sum * rescale + std::exp2(sink - highest);
  const float inverse = rescale / total;
  // -sum of w ln w, where ln w = (score - maximum) ln 2 + ln inverse; inverse itself may have
  // gone to zero under a sink that is far above the scores.
  const float ln_inverse = (row_max - highest) * kLn2 - std::log(total);
  const float entropy = 0.0F - inverse * (entropy_sum * kLn2 + sum * ln_inverse);
  return {.inverse_sum = inverse, .log_sum_exp = highest * kLn2 + std::log(total), .entropy = entropy};
}

/// Writes all results of a row but its output. `rule` has no factor yet. Returns the factor, by which the caller
/// multiplies the output.
inline float write_statistics(const AttentionRow& row, const AttentionTask& task, RowStats rule, float sum,
                              float entropy_sum) {
  const RowSummary end = summarize_row(row, task.weight.normalizer, rule.row_max, sum, entropy_sum);
  rule.factor = end.inverse_sum * task.weight.dropout_factor;
  if (row.weights) weigh_stored_scores(row, task, rule);
  if (row.stats && !task.weight.mod) *row.stats = rule;
  if (row.log_sum_exp) *row.log_sum_exp = end.log_sum_exp;
  if (row.entropy) *row.entropy = end.entropy;
  return rule.factor;
}

inline void write_results(const Panel& panel, const AttentionTask& task) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes;
    alignas(kScratchAlignment) float factors[kLanes] = {};
    RowTargets targets;
    for (int lane = 0; lane < kLanes && first_lane + lane < panel.row_count; ++lane) {
      const int index = first_lane + lane;
      const AttentionRow& row = panel.rows[index];
      const RowStats rule{.row_max = panel.row_max[index],
                          .factor = 0.0F,
                          .shift = panel.shift[index],
                          .threshold = panel.threshold[index],
                          .last_kept = panel.last_kept[index]};
      factors[lane] = write_statistics(row, task, rule, panel.row_sum[index], panel.entropy_sum[index]);
      targets.of[lane] = row.output;
    }
    lanes_to_targets(task.value_dim, panel.output + first_lane, Batch::load_aligned(factors), targets);
  }
}

}  // namespace heed::kernels
