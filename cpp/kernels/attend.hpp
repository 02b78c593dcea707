// Attention for the rows of one task: block by block over the keys, panel by panel over
// the rows. Queries lie in lanes, so a score tile is keys x queries and comes out in the
// layout that the product with the values reads; keys and values are read where they lie.
#pragma once

#include "kernels/dropout.hpp"
#include "kernels/normalize.hpp"
#include "kernels/results.hpp"
#include "kernels/rows_in_lanes.hpp"
#include "kernels/sparsemax.hpp"
#include "kernels/top_k.hpp"
#include "kernels/weighted_sum.hpp"

namespace heed::kernels {

template <class Arch>
inline void start_panel(const Panel& panel, const AttentionBlock& block) {
  pack_queries<Arch>(panel, block.head_dim);
  for (int i = 0; i < block.value_dim * kPanel<Arch>; ++i) panel.output[i] = 0.0F;
  start_statistics<Arch>(panel, block);
  if (!panel.rows[0].scores) return;
  // Blocks that no row sees are never reached, and masked in whole.
  for (int lane = 0; lane < panel.row_count; ++lane) {
    for (int j = 0; j < block.key_length; ++j) panel.rows[lane].scores[j] = kMasked;
  }
}

template <class Arch>
inline void attend_keys(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces,
                        BlockNumbers<Arch>& numbers) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  copy_line<Arch>(panel.maximum, maximum);
  bool has_masked = false;
  for (const KeyBlock& keys : pieces) has_masked |= make_scores<RowsInLanes<Arch>>(panel, block, keys, maximum);
  const Rescale<Arch> rescale = make_weights<Arch>(panel, block, pieces.joined(), maximum, has_masked);
  WeightedValues values;
  for (const KeyBlock& keys : pieces) {
    if (block.has_dropout) drop_weights<Arch>(panel, block, keys, keys.scores);
    values.add({numbers.values(keys), keys.count, keys.scores});
  }
  bool is_plain = true;
  if (may_hold_zeros(block, has_masked)) {
    for (const KeyBlock& keys : pieces) is_plain &= numbers.are_values_finite(keys);
  }
  if (is_plain) {
    add_values<Arch>(panel, block.value_dim, values, rescale);
  } else {
    add_attended_values<Arch>(panel, block.value_dim, values, rescale);
  }
}

/// See AttentionKernels.
template <class Arch>
void attend(const AttentionBlock& block) {
  Panels<Arch> panels(block);
  for (int index = 0; index < panels.count; ++index) start_panel<Arch>(panels.all[index], block);
  if (block.top_k > 0 && block.weight_mod) {
    for (int index = 0; index < panels.count; ++index) recall_best<Arch>(panels.all[index]);
  } else if (block.top_k > 0) {
    find_best<Arch>(panels, block);
  }
  if (block.normalizer == Normalizer::sparsemax) find_shifts<Arch>(panels, block);
  for_each_step<Arch>(panels, block,
                      [](const Panel& panel, const AttentionBlock& of, const KeyPieces& pieces,
                         BlockNumbers<Arch>& numbers) { attend_keys<Arch>(panel, of, pieces, numbers); });
  for (int index = 0; index < panels.count; ++index) write_results<Arch>(panels.all[index], block);
}

}  // namespace heed::kernels
