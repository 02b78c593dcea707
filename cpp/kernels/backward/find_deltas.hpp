// Finds the delta of each row where it is not rowsum(dO * O): see row_delta.hpp. It is a mean of dP over the keys of a
// row. A softmax weights dP by P; its output does not tell this mean where a weight_mod follows or the loss has
// gradients of the weights. Sparsemax takes the plain mean over its support, the keys whose weight is not zero.
#pragma once

#include "kernels/backward/attend_backward.hpp"

namespace heed::kernels {

/// Sums up the mean of each row: panel.row_sum takes dP times the coefficient of the key, panel.entropy_sum the
/// coefficient, which is P, or 1 for a key in the support of sparsemax.
struct DeltaVisit {
  BackwardBlocks& blocks;
  bool is_softmax;

  void operator()(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                  WidenedKv& numbers) const {
    const BackwardLanes rows(panel);
    alignas(kScratchAlignment) float unused[kPanel];
    remake_scores(panel, task, segments, unused);
    const Weight weight_of(is_softmax ? Normalizer::softmax : Normalizer::sparsemax, kExp2OfSummands);
    const Batch zero(0.0F);
    for (const KeyBlock& keys : segments) {
      const float* const products = blocks.differentiate_values(panel, keys, numbers);
      for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
        const RowStatsLanes stats = rows.stats(first_lane);
        Batch sum = Batch::load_aligned(panel.row_sum + first_lane);
        Batch count = Batch::load_aligned(panel.entropy_sum + first_lane);
        for (int j = 0; j < keys.count; ++j) {
          const Batch weight = weight_of(Batch::load_aligned(keys.scores + j * kPanel + first_lane), stats);
          const Batch coefficient = is_softmax ? weight : xsimd::select(weight > zero, Batch(1.0F), zero);
          const Batch product = Batch::load_aligned(products + j * kPanel + first_lane);
          sum += xsimd::select(coefficient == zero, zero, coefficient * product);
          count += coefficient;
        }
        sum.store_aligned(panel.row_sum + first_lane);
        count.store_aligned(panel.entropy_sum + first_lane);
      }
    }
  }
};

void find_deltas(const AttentionTask& task, const BackwardTask& backward, float* deltas) {
  Panels panels(task);
  BackwardBlocks blocks(task, backward);
  for (int index = 0; index < panels.count; ++index) {
    Panel& panel = panels.all[index];
    blocks.start_panel(panel);
    for (int lane = 0; lane < kPanel; ++lane) panel.row_sum[lane] = panel.entropy_sum[lane] = 0.0F;
    if (task.weight.top_k > 0) recall_top_k(panel);
  }
  const bool is_softmax = task.weight.normalizer == Normalizer::softmax;
  for_each_key_block(panels, task, DeltaVisit{blocks, is_softmax});
  for (int index = 0; index < panels.count; ++index) {
    const Panel& panel = panels.all[index];
    for (int lane = 0; lane < panel.row_count; ++lane) {
      // The coefficients of a softmax are its weights, which may leave something to a sink.
      const float count = is_softmax ? 1.0F : panel.entropy_sum[lane];
      deltas[index * kPanel + lane] = count > 0.0F ? panel.row_sum[lane] / count : 0.0F;
    }
  }
}

}  // namespace heed::kernels
