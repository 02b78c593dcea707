// The weights of decode a second time, for their mean over the heads.
#pragma once

#include "kernels/block/mean_weights.hpp"
#include "kernels/decode/attend_split.hpp"

namespace heed::kernels {

/// Adds the weights of a block of a split.
inline void add_split_block_weights(const AttentionTask& task, const KeySplit& split, const SplitBlock& split_block,
                                    StridedRows /*outputs*/) {
  for (int index = 0; index < task.row_count; ++index) {
    const Panel panel = make_row_panel(task, split, index);
    const KeyBlock& keys = split_block.of_row[index];
    if (keys.count == 0) continue;
    alignas(kScratchAlignment) float row_max[kPanel] = {};  // not asked for
    make_scores<KeysInLanes>(panel, task, keys, row_max);
    weigh(panel, task, keys);
    for (int j = 0; j < keys.count; j += kLanes) {
      const int count = keys.count - j < kLanes ? keys.count - j : kLanes;
      add_some(Batch::load_aligned(keys.scores + j), count, panel.rows[0].mean_weights + keys.first + j);
    }
  }
}

void add_split_mean_weights(const AttentionTask& task, const KeySplit& split) {
  for (int index = 0; index < task.row_count; ++index) {
    prepare_query(make_row_panel(task, split, index), task);
  }
  for_each_split_block(task, split, &add_split_block_weights, {});
}

}  // namespace heed::kernels
