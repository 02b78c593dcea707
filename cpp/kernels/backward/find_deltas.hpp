// The deltas of rows where the output does not tell them: the mean of the gradients of a row's weights. A softmax that
// weight_mod follows takes it by the weights, sparsemax over its support, the keys that have a weight.
#pragma once

#include "kernels/backward/attend_backward.hpp"

namespace heed::kernels {

/// Adds to panel.row_sum the gradients times their shares, and to panel.entropy_sum these.
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
          const Batch share = is_softmax ? weight : xsimd::select(weight > zero, Batch(1.0F), zero);
          const Batch product = Batch::load_aligned(products + j * kPanel + first_lane);
          sum += xsimd::select(share == zero, zero, share * product);
          count += share;
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
      // The shares of a softmax are its weights, which may leave something to a sink.
      const float count = is_softmax ? 1.0F : panel.entropy_sum[lane];
      deltas[index * kPanel + lane] = count > 0.0F ? panel.row_sum[lane] / count : 0.0F;
    }
  }
}

}  // namespace heed::kernels
