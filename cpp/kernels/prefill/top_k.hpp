// Finds the best keys of each row in one pass over its scores, which are made again when they are used. Each row has a
// heap with the worst of its best keys on top, which almost every key fails to beat. O(top_k) memory a row; at most
// log2(top_k) steps a key, and for keys in random order some top_k * ln(keys / top_k) keys take any.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/prefill/key_loop.hpp"

namespace heed::kernels {

/// The order of the heaps: of two keys the one to keep. Keys arrive in order, so that among equals the first stays.
inline bool is_better(const BestKey& a, const BestKey& b) {
  return a.score > b.score || (a.score == b.score && a.key < b.key);
}

/// Adds a key to the heap of a row: `threshold` is what a key has to beat, `size` the number of keys.
inline void add_candidate(BestKey* heap, int top_k, const BestKey& candidate, float& threshold, std::int32_t& size) {
  if (size == top_k) {
    std::pop_heap(heap, heap + top_k, is_better);
    --size;
  }
  heap[size++] = candidate;
  std::push_heap(heap, heap + size, is_better);
  if (size == top_k) threshold = heap[0].score;
}

/// A row with a score that is NaN keeps all keys, for its results are to be NaN.
inline constexpr std::int32_t kAllKeys = -1;

/// Adds the keys of a segment to the heaps.
inline void add_to_top_k(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  BestKey* const heaps = task.scratch.best + (panel.rows - task.rows) * task.weight.top_k;
  for (int line = 0; line < keys.count; ++line) {
    const float* const scores = keys.scores + static_cast<std::ptrdiff_t>(line) * kPanel;
    for (int first_lane = 0; first_lane < panel.row_count; first_lane += kLanes) {
      const Batch threshold = Batch::load_aligned(panel.threshold + first_lane);
      if (xsimd::all(Batch::load_aligned(scores + first_lane) <= threshold)) continue;
      for (int lane = first_lane; lane < first_lane + kLanes && lane < panel.row_count; ++lane) {
        std::int32_t& size = panel.last_kept[lane];
        if (scores[lane] != scores[lane]) size = kAllKeys;
        if (size == kAllKeys || !(scores[lane] > panel.threshold[lane])) continue;
        add_candidate(heaps + static_cast<std::ptrdiff_t>(lane) * task.weight.top_k, task.weight.top_k,
                      {scores[lane], keys.first + line}, panel.threshold[lane], size);
      }
    }
  }
}

inline void update_top_k(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                         WidenedKv& /*numbers*/) {
  alignas(kScratchAlignment) float row_max[kPanel];
  remake_scores(panel, task, segments, row_max);
  for (const KeyBlock& keys : segments) add_to_top_k(panel, task, keys);
}

/// Leaves every panel with its threshold and last_kept.
inline void find_top_k(Panels& panels, const AttentionTask& task) {
  for (int index = 0; index < panels.count; ++index) {
    for (int lane = 0; lane < kPanel; ++lane) {
      panels.all[index].threshold[lane] = kMasked;
      panels.all[index].last_kept[lane] = 0;
    }
  }
  for_each_key_block<VisitFunction>(panels, task, update_top_k);
  for (int index = 0; index < panels.count; ++index) {
    Panel& panel = panels.all[index];
    for (int lane = 0; lane < kPanel; ++lane) {
      const bool is_full = panel.last_kept[lane] == task.weight.top_k;
      const BestKey* const heap = task.scratch.best + ((panel.rows - task.rows) + lane) * task.weight.top_k;
      panel.threshold[lane] = is_full ? heap->score : kMasked;
      panel.last_kept[lane] = is_full ? heap->key : std::numeric_limits<std::int32_t>::max();
    }
    panel.has_top_k = true;
  }
}

/// Takes over what find_top_k() found in an earlier pass.
inline void recall_top_k(Panel& panel) {
  for (int lane = 0; lane < kPanel; ++lane) {
    panel.threshold[lane] = panel.row(lane).stats->threshold;
    panel.last_kept[lane] = panel.row(lane).stats->last_kept;
  }
  panel.has_top_k = true;
}

}  // namespace heed::kernels
