// Blocks of keys against panels of rows: how their scores lie, and the walk of every block past every panel.
#pragma once

#include "kernels/block_numbers.hpp"
#include "kernels/block_scores.hpp"
#include "kernels/pair_scores.hpp"
#include "kernels/panel.hpp"
#include "kernels/results.hpp"
#include "kernels/scores.hpp"

namespace heed::kernels {

/// How scores lie where every lane is another row: a line a key.
template <class A>
struct RowsInLanes {
  using Arch = A;

  static void score(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys, float* maximum) {
    if (block.pairing != Pairing::product) return score_pairs<Arch>(panel, block, keys);
    const DotSize size{block.head_dim, block.key_length < kManyKeys ? kShortRun : block.head_dim};
    score_keys<Arch>(panel, size, keys.numbers, keys.count, keys.scores, maximum);
  }
  static Overlay gather(const Panel& panel, const AttentionBlock& block, const KeyBlock& all_keys) {
    const KeyLines keys = keys_with_addends(block, all_keys);
    if (!panel.rows[0].bias && block.mask_stride == 1) {
      gather_bytes<Arch>(panel, keys, all_keys.addends);
      return Overlay::bytes;
    }
    gather_addends<Arch>(panel, block, keys, all_keys.addends);
    return Overlay::addends;
  }
  static void park(const Panel& panel, const KeyBlock& keys, float* AttentionRow::* target, float factor) {
    park_scores<Arch>(panel, keys.first, keys.count, keys.scores, target, factor);
  }
};

/// The panels of a block, and the keys that concern any of them.
template <class Arch>
struct Panels {
  Panel all[kMaxRows / kPanel<Arch>];
  int count;
  int first_begin;
  int last_end = 0;

  explicit Panels(const AttentionBlock& block)
      : count((block.row_count + kPanel<Arch> - 1) / kPanel<Arch>), first_begin(block.key_length) {
    for (int index = 0; index < count; ++index) {
      const Panel& panel = all[index] = make_panel<Arch>(block, index);
      if (panel.first_begin < first_begin) first_begin = panel.first_begin;
      if (panel.last_end > last_end) last_end = panel.last_end;
    }
  }
};

/// What is done with a block of keys and a panel, where it is done seldom: all of this kind share one walk.
template <class Arch>
using Look = void (*)(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys,
                      BlockNumbers<Arch>& numbers);

/// Calls visit for each run of keys that concerns a panel: block by block, so that a
/// block passes every panel while it is in the cache. Blocks start at the same keys whatever the
/// rows, so that a row's sums are grouped the same way in any task.
template <class Arch, class Visit>
[[gnu::noinline]] void for_each_block(const Panels<Arch>& panels, const AttentionBlock& block, Visit visit) {
  const std::int64_t shared = attention_scratch_floats(kPanel<Arch>, panels.count, block.head_dim, block.value_dim, 0);
  float* const scores = block.scratch + shared;
  float* const addends = scores + std::ptrdiff_t{block.key_block} * kPanel<Arch>;
  float* const widened = addends + std::ptrdiff_t{block.key_block} * kPanel<Arch>;

  int stop = 0;
  for (int start = step_with(block, panels.first_begin); start < panels.last_end && !is_stopped(block); start = stop) {
    stop = end_of_step(block, start, panels.last_end);
    BlockNumbers<Arch> numbers(block, start, stop, widened);
    for (int index = 0; index < panels.count; ++index) {
      const Panel& panel = panels.all[index];
      const int begin = start > panel.first_begin ? start : panel.first_begin;
      const int end = stop < panel.last_end ? stop : panel.last_end;
      if (begin >= end) continue;
      KeyBlock keys{{begin, end - begin}, {}, MaskedKeys::none, MaskedKeys::none, MaskedKeys::none, scores, addends};
      look_at_masks<Arch>(panel, block, keys);
      if (pass_over(panel, block, keys)) continue;
      keys.numbers = numbers.keys(keys.first);
      visit(panel, block, keys, numbers);
    }
  }
}

/// The scores of a run of keys once more, or for the first time, with no results of theirs.
template <class Arch>
inline void look_at_scores(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys, float* maximum) {
  Panel quiet = panel;
  quiet.wants_scores = quiet.wants_weights = false;
  copy_line<Arch>(panel.maximum, maximum);
  make_scores<RowsInLanes<Arch>>(quiet, block, keys, maximum);
}

}  // namespace heed::kernels
