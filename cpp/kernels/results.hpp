// What leaves a panel when its last key is done: outputs, weights, log-sum-exp.
#pragma once

#include <cmath>

#include "kernels/dropout.hpp"
#include "kernels/exp2.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/panel.hpp"
#include "kernels/transpose.hpp"

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

/// Weights by a rule for each lane. Holds its constants in registers, as Exp2 does.
template <class Arch>
class FinalWeight {
 public:
  FinalWeight() : exp2_(kExp2OfResults) {}

  Batch<Arch> operator()(Batch<Arch> score, Batch<Arch> maximum, Batch<Arch> factor) const {
    const Batch<Arch> exponent = score - maximum;
    // A masked key weighs nothing even where the maximum, and so the exponent, is NaN.
    const auto is_nothing = (exponent < Batch<Arch>(kExp2OfResults.floor)) | (score == Batch<Arch>(kMasked));
    return xsimd::select(is_nothing, Batch<Arch>(0.0F), exp2_(exponent) * factor);
  }

 private:
  Exp2<Arch> exp2_;
};

/// Turns one row's parked scores into weights.
template <class Arch>
inline void finish_weights(const AttentionRow& row, const AttentionBlock& block, const WeightRule& rule) {
  const FinalWeight<Arch> weight_of;
  const int end = row.key_end > row.key_begin ? row.key_end : row.key_begin;
  for (int j = 0; j < row.key_begin; ++j) row.weights[j] = 0.0F;
  for (int j = row.key_begin; j < end; j += kLanes<Arch>) {
    const int count = end - j < kLanes<Arch> ? end - j : kLanes<Arch>;
    const Batch<Arch> score = load_some<Arch>(row.weights + j, count);
    Batch<Arch> weight = weight_of(score, Batch<Arch>(rule.maximum), Batch<Arch>(rule.factor));
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

/// A row without a key gives zeros, sink or not, rather than 0 / 0.
inline RowEnd end_row(const AttentionRow& row, float maximum, float sum, float spread) {
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

/// Everything of a row's results but its output. Returns the factor that the output still lacks.
template <class Arch>
inline float write_statistics(const AttentionRow& row, const AttentionBlock& block, float maximum, float sum,
                              float spread) {
  const RowEnd end = end_row(row, maximum, sum, spread);
  const WeightRule rule{.maximum = maximum, .factor = end.inverse_sum * block.dropout_factor};
  if (row.weights) finish_weights<Arch>(row, block, rule);
  if (row.weight_rule) *row.weight_rule = rule;
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
      factors[lane] = write_statistics<Arch>(row, block, panel.maximum[index], panel.sum[index], panel.spread[index]);
      targets.of[lane] = row.output;
    }
    lanes_to_targets<Arch>(block.value_dim, panel.output + first_lane, Batch<Arch>::load_aligned(factors), targets);
  }
}

}  // namespace heed::kernels
