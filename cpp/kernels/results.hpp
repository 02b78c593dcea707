// What leaves a panel when its last key is done: outputs, weights, log-sum-exp.
#pragma once

#include <cmath>

#include "kernels/exp2.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/panel.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// Parks masked scores in the rows of the weights until the maximum is known.
template <class Arch>
inline void park_scores(const Panel& panel, int first_key, int count, const float* scores) {
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    lanes_to_rows<Arch>(count, scores + first_lane, kPanel<Arch>, [&](int lane, int i, Batch<Arch> batch, int some) {
      if (first_lane + lane >= panel.row_count) return;
      store_some<Arch>(batch, panel.rows[first_lane + lane].weights + first_key + i, some);
    });
  }
}

/// Turns one row's parked scores into weights: 2^(score - maximum) / sum.
template <class Arch>
inline void finish_weights(const AttentionRow& row, int key_length, float maximum, float inverse_sum) {
  const Exp2<Arch> exp2(kExp2OfResults);
  const Batch<Arch> floor(kExp2OfResults.floor);
  const Batch<Arch> factor(inverse_sum);
  const Batch<Arch> zero(0.0F);
  const int end = row.key_end > row.key_begin ? row.key_end : row.key_begin;
  for (int j = 0; j < row.key_begin; ++j) row.weights[j] = 0.0F;
  for (int j = row.key_begin; j < end; j += kLanes<Arch>) {
    const int count = end - j < kLanes<Arch> ? end - j : kLanes<Arch>;
    const Batch<Arch> score = load_some<Arch>(row.weights + j, count);
    const Batch<Arch> exponent = score - Batch<Arch>(maximum);
    // A masked key weighs nothing even where the maximum, and so the exponent, is NaN.
    const auto is_nothing = (exponent < floor) | (score == Batch<Arch>(kMasked));
    const Batch<Arch> weight = xsimd::select(is_nothing, zero, exp2(exponent) * factor);
    store_some<Arch>(weight, row.weights + j, count);
  }
  for (int j = end; j < key_length; ++j) row.weights[j] = 0.0F;
}

template <class Arch>
inline void write_results(const Panel& panel, const AttentionBlock& block) {
  alignas(kScratchAlignment) float inverse_sum[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    const float sum = panel.sum[lane];
    inverse_sum[lane] = sum == 0.0F ? 0.0F : 1.0F / sum;  // no key left: zeros, not 0 / 0
  }
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    lanes_to_rows<Arch>(
        block.value_dim, panel.output + first_lane, kPanel<Arch>, [&](int lane, int e, Batch<Arch> batch, int count) {
          const int index = first_lane + lane;
          if (index >= panel.row_count || !panel.rows[index].output) return;
          store_some<Arch>(batch * Batch<Arch>(inverse_sum[index]), panel.rows[index].output + e, count);
        });
  }
  for (int lane = 0; lane < panel.row_count; ++lane) {
    const AttentionRow& row = panel.rows[lane];
    if (row.weights) finish_weights<Arch>(row, block.key_length, panel.maximum[lane], inverse_sum[lane]);
    if (row.log_sum_exp) {
      *row.log_sum_exp = panel.sum[lane] == 0.0F ? kMasked : panel.maximum[lane] * kLn2 + std::log(panel.sum[lane]);
    }
  }
}

}  // namespace heed::kernels
