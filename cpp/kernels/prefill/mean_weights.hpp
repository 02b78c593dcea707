// The weights of prefill a second time, for their mean over the heads: with the stats of each row known from the first
// pass, a block of weights is made, added to what other heads left there, and forgotten.
#pragma once

#include "kernels/block/mean_weights.hpp"
#include "kernels/prefill/attend.hpp"

namespace heed::kernels {

inline void add_block_weights(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                              WidenedKv& /*numbers*/) {
  alignas(kScratchAlignment) float row_max[kPanel] = {};  // not asked for
  for (const KeyBlock& keys : segments) {
    make_scores<QueriesInLanes>(panel, task, keys, row_max);
    weigh(panel, task, keys);
    for (int first_lane = 0; first_lane < panel.row_count; first_lane += kLanes) {
      lanes_to_rows(keys.count, keys.scores + first_lane, kPanel, Batch(1.0F),
                    [&](int lane, int i, Batch weights, int count) {
                      if (first_lane + lane >= panel.row_count) return;
                      add_some(weights, count, panel.rows[first_lane + lane].mean_weights + keys.first + i);
                    });
    }
  }
}

void add_mean_weights(const AttentionTask& task) {
  Panels panels(task);
  for (int index = 0; index < panels.count; ++index) {
    Panel& panel = panels.all[index];
    pack_queries(panel, task.head_dim);
    if (task.weight.top_k > 0) recall_top_k(panel);
  }
  for_each_key_block<VisitFunction>(panels, task, add_block_weights);
}

}  // namespace heed::kernels
