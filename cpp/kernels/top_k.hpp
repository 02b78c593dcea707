// Finds the best keys of each row in one pass over its scores, which are made again when they are used: a heap a row,
// with the worst of the best on top, which almost every key fails to beat. O(top_k) memory a row; at most log2(top_k)
// steps a key, and for keys in random order some top_k * ln(keys / top_k) of them that take any.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/rows_in_lanes.hpp"

namespace heed::kernels {

/// The heaps' order: of two keys the one to keep. Keys arrive in their order, so that among equals the first stays.
static inline bool is_better(const BestKey& a, const BestKey& b) {
  return a.score > b.score || (a.score == b.score && a.key < b.key);
}

/// One row's heap while keys pass: `threshold` is what a key has to beat, `size` how many there are.
inline void add_candidate(BestKey* heap, int top_k, const BestKey& candidate, float& threshold, std::int32_t& size) {
  if (size == top_k) {
    std::pop_heap(heap, heap + top_k, is_better);
    --size;
  }
  heap[size++] = candidate;
  std::push_heap(heap, heap + size, is_better);
  if (size == top_k) threshold = heap[0].score;
}

/// A row with a score that is NaN keeps all of them, for its results are to be NaN.
inline constexpr std::int32_t kAllKeys = -1;

/// Looks at a run of keys.
template <class Arch>
inline void note_best_of(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  BestKey* const heaps = block.best + (panel.rows - block.rows) * block.top_k;
  for (int line = 0; line < keys.count; ++line) {
    const float* const scores = keys.scores + static_cast<std::ptrdiff_t>(line) * kPanel<Arch>;
    for (int first_lane = 0; first_lane < panel.row_count; first_lane += kLanes<Arch>) {
      const Batch<Arch> threshold = Batch<Arch>::load_aligned(panel.threshold + first_lane);
      if (xsimd::all(Batch<Arch>::load_aligned(scores + first_lane) <= threshold)) continue;
      for (int lane = first_lane; lane < first_lane + kLanes<Arch> && lane < panel.row_count; ++lane) {
        std::int32_t& size = panel.last_best[lane];
        if (scores[lane] != scores[lane]) size = kAllKeys;
        if (size == kAllKeys || !(scores[lane] > panel.threshold[lane])) continue;
        add_candidate(heaps + static_cast<std::ptrdiff_t>(lane) * block.top_k, block.top_k,
                      {scores[lane], keys.first + line}, panel.threshold[lane], size);
      }
    }
  }
}

template <class Arch>
void note_best(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces,
               BlockNumbers<Arch>& /*numbers*/) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  look_at_scores<Arch>(panel, block, pieces, maximum);
  for (const KeyBlock& keys : pieces) note_best_of<Arch>(panel, block, keys);
}

/// Leaves every panel with its threshold and last_best.
template <class Arch>
inline void find_best(Panels<Arch>& panels, const AttentionBlock& block) {
  for (int index = 0; index < panels.count; ++index) {
    for (int lane = 0; lane < kPanel<Arch>; ++lane) {
      panels.all[index].threshold[lane] = kMasked;
      panels.all[index].last_best[lane] = 0;
    }
  }
  for_each_step<Arch, Look<Arch>>(panels, block, note_best<Arch>);
  for (int index = 0; index < panels.count; ++index) {
    Panel& panel = panels.all[index];
    for (int lane = 0; lane < kPanel<Arch>; ++lane) {
      const bool is_full = panel.last_best[lane] == block.top_k;
      const BestKey* const heap = block.best + ((panel.rows - block.rows) + lane) * block.top_k;
      panel.threshold[lane] = is_full ? heap->score : kMasked;
      panel.last_best[lane] = is_full ? heap->key : std::numeric_limits<std::int32_t>::max();
    }
    panel.keeps_best = true;
  }
}

/// What find_best() found in an earlier pass.
template <class Arch>
inline void recall_best(Panel& panel) {
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    panel.threshold[lane] = panel.row(lane).weight_rule->threshold;
    panel.last_best[lane] = panel.row(lane).weight_rule->last_best;
  }
  panel.keeps_best = true;
}

}  // namespace heed::kernels
