// The loop of prefill over KV blocks and panels, and the layout of scores with queries in lanes.
#pragma once

#include "kernels/block/make_scores.hpp"
#include "kernels/block/widened_kv.hpp"
#include "kernels/prefill/qk_product.hpp"
#include "kernels/score/pair_scores.hpp"
#include "kernels/softmax/results.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// The layout of scores with queries in lanes: a line holds one key, and every lane another query.
struct QueriesInLanes {
  static void score(const Panel& panel, const AttentionTask& task, const KeyBlock& keys, float* row_max) {
    if (task.score.pairing == Pairing::product) {
      const DotSize size{task.head_dim, task.own_length < kManyKeys ? kShortDepth : task.head_dim};
      score_keys(panel, size, keys.numbers, keys.count, keys.scores, row_max);
    } else {
      score_pairs(panel, task, keys);
    }
  }
  static Overlay collect_overlay(const Panel& panel, const AttentionTask& task, const KeyBlock& all_keys) {
    const KeySpan keys = keys_with_addends(task, all_keys);
    if (!panel.rows[0].bias && task.mask.mask_stride == 1) {
      collect_mask_bytes(panel, keys, all_keys.addends);
      return Overlay::mask_bytes;
    }
    collect_addends(panel, task, keys, all_keys.addends);
    return Overlay::addends;
  }
  static void store(const Panel& panel, const KeyBlock& keys, float* AttentionRow::* target, float factor) {
    store_scores(panel, keys.first, keys.count, keys.scores, target, factor);
  }
};

/// The panels of a task, and the keys that any of them sees.
struct Panels {
  Panel all[kMaxRows / kPanel];
  int count;
  int first_begin;
  int last_end = 0;

  explicit Panels(const AttentionTask& task)
      : count((task.row_count + kPanel - 1) / kPanel), first_begin(task.key_length) {
    for (int index = 0; index < count; ++index) {
      const Panel& panel = all[index] = make_panel(task, index);
      if (panel.first_begin < first_begin) first_begin = panel.first_begin;
      if (panel.last_end > last_end) last_end = panel.last_end;
    }
  }
};

/// Finds the masks of a segment, beside `by_keep`, which is known, and where its keys are. Returns false if the segment
/// is skipped.
[[gnu::noinline]] inline bool prepare_segment(const Panel& panel, const AttentionTask& task, WidenedKv& numbers,
                                              KeyBlock& segment) {
  if (segment.by_keep != BlockMask::empty) find_block_masks(panel, task, segment);
  if (skip_block(panel, task, segment)) return false;
  segment.numbers = numbers.keys(segment);
  return true;
}

/// Cuts the keys of a block that a panel sees into segments that are kept, or not; into one if the scores of all are
/// wanted. The scores of `step` have room for them.
inline void find_segments(const Panel& panel, const AttentionTask& task, const KeyBlock& step, WidenedKv& numbers,
                          KeySegments& segments) {
  KeepMasks kept = find_keep_masks(panel, task, step);
  const bool is_whole = needs_all_scores(panel, task);
  float* scores = step.scores;
  for (int first = step.first; first < step.end();) {
    KeyBlock& segment = segments.next();
    segment = step;
    segment.scores = scores;
    segment.by_keep = kept.first_mask();
    segment.first = first;
    first = kept.take_segment(task.loop.skip_keys, first, step.end(), is_whole, segment.by_keep);
    segment.count = first - segment.first;
    if (!prepare_segment(panel, task, numbers, segment)) continue;
    scores += segment.lines() * kPanel;
    segments.add();
  }
}

/// A visit by function pointer. Passes that few calls need (top-k, sparsemax, the mean of the weights) share the one
/// instance of the loop that is made for it, which keeps the module small.
using VisitFunction = void (*)(const Panel& panel, const AttentionTask& task, const KeySegments& segments,
                               WidenedKv& numbers);

/// Calls visit for each KV block that a panel sees: block by block, so that its keys pass every panel while they are in
/// the cache. Blocks begin at the same keys whatever the rows, so that the sums of a row are grouped the same way in
/// any task. A visit may have begin_block(), given the keys of a block, and end_block().
template <class Visit>
[[gnu::noinline]] void for_each_key_block(const Panels& panels, const AttentionTask& task, Visit visit) {
  const std::int64_t shared = prefill_scratch_floats(kPanel, panels.count, task.head_dim, task.value_dim, 0);
  float* const scores = task.scratch.floats + shared;
  float* const addends = scores + std::ptrdiff_t{task.loop.key_block} * kPanel;
  float* const widened = addends + std::ptrdiff_t{task.loop.key_block} * kPanel;

  // Causal masks, windows and lengths are key ranges of rows. By them the bounds of this loop leave out blocks that no
  // row of the task sees, and `begin >= end` below those that no row of a panel sees.
  int stop = 0;
  for (int start = step_with(task, panels.first_begin); start < panels.last_end && !is_stopped(task); start = stop) {
    stop = end_of_step(task, step_group(task), start, panels.last_end);
    WidenedKv numbers(task, start, stop, widened);
    if constexpr (requires { visit.begin_block(start, stop); }) visit.begin_block(start, stop);
    for (int index = 0; index < panels.count; ++index) {
      const Panel& panel = panels.all[index];
      const int begin = start > panel.first_begin ? start : panel.first_begin;
      const int end = stop < panel.last_end ? stop : panel.last_end;
      if (begin >= end) continue;
      const KeyBlock keys{{begin, end - begin}, {}, BlockMask::full, BlockMask::full, BlockMask::full, scores, addends};
      KeySegments segments;
      if (task.mask.keep_block_keys > 0) {
        find_segments(panel, task, keys, numbers, segments);
      } else {
        segments.next() = keys;
        if (prepare_segment(panel, task, numbers, segments.next())) segments.add();
      }
      if (segments.begin() != segments.end()) visit(panel, task, segments, numbers);
    }
    if constexpr (requires { visit.end_block(); }) visit.end_block();
  }
}

/// Makes the scores of a KV block again, or for the first time, without writing any result.
inline void remake_scores(const Panel& panel, const AttentionTask& task, const KeySegments& segments, float* row_max) {
  Panel quiet = panel;
  quiet.wants_scores = quiet.wants_weights = false;
  copy_line(panel.row_max, row_max);
  for (const KeyBlock& keys : segments) make_scores<QueriesInLanes>(quiet, task, keys, row_max);
}

}  // namespace heed::kernels
