// Weights a second time, for the mean over heads: with each row's maximum and sum known from the first, a
// block of weights is made, added to what other heads left there, and forgotten.
#pragma once

#include "kernels/attend.hpp"
#include "kernels/attend_part.hpp"
#include "kernels/weigh_by_rules.hpp"

namespace heed::kernels {

/// Makes scores[lines][panel] what they add to the mean.
template <class Arch>
inline void weigh(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  if (block.weight_mod) {
    const Batch<Arch> factor(block.share * block.dropout_factor);
    const Batch<Arch> masked(kMasked);
    change_scores<Arch>(keys.lines(), keys.scores, [&](Batch<Arch> weight, int, int) {
      return xsimd::select(weight == masked, Batch<Arch>(0.0F), weight * factor);
    });
  } else {
    weigh_by_rules<Arch>(panel, block.normalizer, block.share, keys.lines(), keys.scores);
  }
  if (block.has_dropout) drop_weights<Arch>(panel, block, keys, keys.scores);
}

template <class Arch>
inline void add_some(Batch<Arch> weights, int count, float* mean) {
  store_some<Arch>(load_some<Arch>(mean, count) + weights, mean, count);
}

template <class Arch>
void add_step_weights(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces,
                      BlockNumbers<Arch>& /*numbers*/) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>] = {};  // not asked for
  for (const KeyBlock& keys : pieces) {
    make_scores<RowsInLanes<Arch>>(panel, block, keys, maximum);
    weigh<Arch>(panel, block, keys);
    for (int first_lane = 0; first_lane < panel.row_count; first_lane += kLanes<Arch>) {
      lanes_to_rows<Arch>(keys.count, keys.scores + first_lane, kPanel<Arch>, Batch<Arch>(1.0F),
                          [&](int lane, int i, Batch<Arch> weights, int count) {
                            if (first_lane + lane >= panel.row_count) return;
                            add_some<Arch>(weights, count, panel.rows[first_lane + lane].mean_weights + keys.first + i);
                          });
    }
  }
}

/// See AttentionKernels.
template <class Arch>
void add_weights(const AttentionBlock& block) {
  Panels<Arch> panels(block);
  for (int index = 0; index < panels.count; ++index) {
    Panel& panel = panels.all[index];
    pack_queries<Arch>(panel, block.head_dim);
    if (block.top_k > 0) recall_best<Arch>(panel);
  }
  for_each_step<Arch, Look<Arch>>(panels, block, add_step_weights<Arch>);
}

/// Of a block of a part's keys.
template <class Arch>
void add_part_keys(const AttentionBlock& block, const KeyPart& part, const PartKeys<Arch>& part_keys,
                   RowNumbers /*outputs*/) {
  for (int index = 0; index < block.row_count; ++index) {
    const Panel panel = make_row_panel<Arch>(block, part, index);
    const KeyBlock& keys = part_keys.of_row[index];
    if (keys.count == 0) continue;
    alignas(kScratchAlignment) float maximum[kPanel<Arch>] = {};  // not asked for
    make_scores<KeysInLanes<Arch>>(panel, block, keys, maximum);
    weigh<Arch>(panel, block, keys);
    for (int j = 0; j < keys.count; j += kLanes<Arch>) {
      const int count = keys.count - j < kLanes<Arch> ? keys.count - j : kLanes<Arch>;
      add_some<Arch>(Batch<Arch>::load_aligned(keys.scores + j), count, panel.rows[0].mean_weights + keys.first + j);
    }
  }
}

/// See AttentionKernels.
template <class Arch>
void add_part_weights(const AttentionBlock& block, const KeyPart& part) {
  for (int index = 0; index < block.row_count; ++index) {
    prepare_query<Arch>(make_row_panel<Arch>(block, part, index), block);
  }
  for_each_part_block<Arch>(block, part, &add_part_keys<Arch>, {});
}

}  // namespace heed::kernels
