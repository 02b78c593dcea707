// Prefill kernel: KV block by KV block over the keys, panel by panel over the queries. Queries lie in lanes, so a score
// tile is keys x queries and comes out in the layout that the product with the values reads; keys and values are read
// where they lie.
#pragma once

#include "kernels/prefill/key_loop.hpp"
#include "kernels/prefill/pv_product.hpp"
#include "kernels/prefill/sparsemax.hpp"
#include "kernels/prefill/top_k.hpp"
#include "kernels/softmax/dropout.hpp"
#include "kernels/softmax/normalize.hpp"
#include "kernels/softmax/results.hpp"

namespace heed::kernels {

inline void start_panel(const Panel& panel, const AttentionTask& task) {
  pack_queries(panel, task.head_dim);
  for (int i = 0; i < task.value_dim * kPanel; ++i) panel.output[i] = 0.0F;
  start_statistics(panel, task);
  if (!panel.rows[0].scores) return;
  // Blocks that no row sees are never reached, and masked in whole.
  for (int lane = 0; lane < panel.row_count; ++lane) {
    for (int j = 0; j < task.key_length; ++j) panel.rows[lane].scores[j] = kMasked;
  }
}

inline void attend_keys(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                        WidenedKv& numbers) {
  alignas(kScratchAlignment) float row_max[kPanel];
  copy_line(panel.row_max, row_max);
  bool has_masked = false;
  for (const KeyBlock& keys : segments) {
    has_masked |= make_scores<QueriesInLanes>(panel, task, keys, row_max) != Masked::none;
  }
  const Rescale rescale = make_weights(panel, task, segments.joined(), row_max, has_masked);
  WeightedValues values;
  for (const KeyBlock& keys : segments) {
    if (task.weight.has_dropout) drop_weights(panel, task, keys, keys.scores);
    values.add({keys.scores, keys.count, numbers.values(keys)});
  }
  bool is_plain = true;
  if (may_hold_zeros(task, has_masked)) {
    for (const KeyBlock& keys : segments) is_plain &= numbers.are_values_finite(keys);
  }
  if (is_plain) {
    add_values(panel, task.value_dim, values, rescale);
  } else {
    add_attended_values(panel, task.value_dim, values, rescale);
  }
}

void attend(const AttentionTask& task) {
  Panels panels(task);
  for (int index = 0; index < panels.count; ++index) start_panel(panels.all[index], task);
  if (task.weight.top_k > 0 && task.weight.mod) {
    for (int index = 0; index < panels.count; ++index) recall_top_k(panels.all[index]);
  } else if (task.weight.top_k > 0) {
    find_top_k(panels, task);
  }
  if (task.weight.normalizer == Normalizer::sparsemax) find_shifts(panels, task);
  for_each_key_block(panels, task,
                     [](const Panel& panel, const AttentionTask& of, const KeySegments& segments, WidenedKv& numbers) {
                       attend_keys(panel, of, segments, numbers);
                     });
  for (int index = 0; index < panels.count; ++index) write_results(panels.all[index], task);
}

}  // namespace heed::kernels
