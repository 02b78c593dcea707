// Weights a second time, for the mean over heads: with each row's maximum and sum known from the first, a
// block of weights is made, added to what other heads left there, and forgotten.
#pragma once

#include "kernels/attend.hpp"

namespace heed::kernels {

/// Adds a block of weights to the rows' mean_weights.
template <class Arch>
inline void add_block(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  alignas(kScratchAlignment) float factor[kPanel<Arch>];
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    maximum[lane] = panel.row(lane).weight_rule->maximum;
    factor[lane] = panel.row(lane).weight_rule->factor;
  }
  const FinalWeight<Arch> weight_of;
  change_scores<Arch>(keys.count, keys.scores, [&](Batch<Arch> score, int, int vector) {
    const int first_lane = vector * kLanes<Arch>;
    return weight_of(score, Batch<Arch>::load_aligned(maximum + first_lane),
                     Batch<Arch>::load_aligned(factor + first_lane));
  });
  if (block.has_dropout) drop_weights<Arch>(panel, block, keys, keys.scores);
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    const int first_lane = vector * kLanes<Arch>;
    lanes_to_rows<Arch>(keys.count, keys.scores + first_lane, kPanel<Arch>, Batch<Arch>(1.0F),
                        [&](int lane, int i, Batch<Arch> weights, int count) {
                          if (first_lane + lane >= panel.row_count) return;
                          float* const mean = panel.rows[first_lane + lane].mean_weights + keys.first + i;
                          store_some<Arch>(load_some<Arch>(mean, count) + weights, mean, count);
                        });
  }
}

template <class Arch>
void add_weights(const AttentionBlock& block) {
  const Panels<Arch> panels(block);
  for (int index = 0; index < panels.count; ++index) {
    pack_queries<Arch>(panels.all[index], block.head_dim, block.scale);
  }
  for_each_block<Arch>(panels, block, [&block](const Panel& panel, const KeyBlock& keys, BlockNumbers<Arch>&) {
    alignas(kScratchAlignment) float maximum[kPanel<Arch>] = {};  // not asked for
    make_scores<RowsInLanes<Arch>>(panel, block, keys, maximum);
    add_block<Arch>(panel, block, keys);
  });
}

}  // namespace heed::kernels
