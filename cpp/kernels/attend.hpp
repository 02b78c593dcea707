// Attention for the rows of one task: block by block over the keys, panel by panel over
// the rows. Queries lie in lanes, so a score tile is keys x queries and comes out in the
// layout that the product with the values reads; keys and values are read where they lie.
#pragma once

#include "kernels/block_numbers.hpp"
#include "kernels/block_scores.hpp"
#include "kernels/dropout.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/pair_scores.hpp"
#include "kernels/panel.hpp"
#include "kernels/results.hpp"
#include "kernels/scores.hpp"
#include "kernels/weighted_sum.hpp"

namespace heed::kernels {

template <class Arch>
inline void start_panel(const Panel& panel, const AttentionBlock& block) {
  pack_queries<Arch>(panel, block.head_dim);
  for (int i = 0; i < block.value_dim * kPanel<Arch>; ++i) panel.output[i] = 0.0F;
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    panel.maximum[lane] = kNoMaximum;
    panel.sum[lane] = 0.0F;
    panel.spread[lane] = 0.0F;
  }
  if (!panel.rows[0].scores) return;
  // Blocks that no row sees are never reached, and masked in whole.
  for (int lane = 0; lane < panel.row_count; ++lane) {
    for (int j = 0; j < block.key_length; ++j) panel.rows[lane].scores[j] = kMasked;
  }
}

/// How scores lie where every lane is another row: a line a key.
template <class A>
struct RowsInLanes {
  using Arch = A;

  static void score(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys, float* maximum) {
    if (block.pairing != Pairing::product) return score_pairs<Arch>(panel, block, keys);
    score_keys<Arch>(panel, block.head_dim, keys.numbers, keys.count, keys.scores, maximum);
  }
  static void gather(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
    gather_addends<Arch>(panel, block, keys, keys.addends);
  }
  static void park(const Panel& panel, const KeyBlock& keys, float* AttentionRow::* target, float factor) {
    park_scores<Arch>(panel, keys.first, keys.count, keys.scores, target, factor);
  }
};

template <class Arch>
inline void attend_keys(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys,
                        BlockNumbers<Arch>& numbers) {
  alignas(kScratchAlignment) float maximum[kPanel<Arch>];
  copy_line<Arch>(panel.maximum, maximum);
  const bool has_masked = make_scores<RowsInLanes<Arch>>(panel, block, keys, maximum);
  if (panel.rows[0].entropy) add_spread<Arch>(panel, maximum, keys.count, keys.scores);
  const Rescale<Arch> rescale = has_masked ? exponentiate<Arch, true>(panel, maximum, keys.count, keys.scores)
                                           : exponentiate<Arch, false>(panel, maximum, keys.count, keys.scores);
  if (block.has_dropout) drop_weights<Arch>(panel, block, keys, keys.scores);
  const Lines values = numbers.values(keys.first);
  const bool may_hold_zeros = has_masked || block.has_dropout;
  if (!may_hold_zeros || numbers.are_values_finite()) {
    add_values<Arch>(panel, block.value_dim, values, keys.count, keys.scores, rescale);
  } else {
    add_attended_values<Arch>(panel, block.value_dim, values, keys.count, keys.scores, rescale);
  }
}

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

/// Calls visit(panel, keys, numbers) for each run of keys that concerns a panel: block by block, so that a
/// block passes every panel while it is in the cache. Blocks start at multiples of key_block whatever the
/// rows, so that a row's sums are grouped the same way in any task.
template <class Arch, class Visit>
inline void for_each_block(const Panels<Arch>& panels, const AttentionBlock& block, Visit visit) {
  const std::int64_t shared = attention_scratch_floats(kPanel<Arch>, panels.count, block.head_dim, block.value_dim, 0);
  float* const scores = block.scratch + shared;
  float* const addends = scores + std::ptrdiff_t{block.key_block} * kPanel<Arch>;
  float* const widened = addends + std::ptrdiff_t{block.key_block} * kPanel<Arch>;

  const int first = panels.first_begin / block.key_block * block.key_block;
  for (int start = first; start < panels.last_end; start += block.key_block) {
    const int stop = start + block.key_block < panels.last_end ? start + block.key_block : panels.last_end;
    BlockNumbers<Arch> numbers(block, start, stop, widened);
    for (int index = 0; index < panels.count; ++index) {
      const Panel& panel = panels.all[index];
      const int begin = start > panel.first_begin ? start : panel.first_begin;
      const int end = stop < panel.last_end ? stop : panel.last_end;
      if (begin >= end) continue;
      KeyBlock keys{{begin, end - begin}, {}, MaskedKeys::none, scores, addends};
      if (panel.rows[0].mask) keys.masked = look_at_mask(panel, block, keys_with_addends(block, keys));
      if (may_skip(panel, keys)) continue;
      keys.numbers = numbers.keys(begin);
      visit(panel, keys, numbers);
    }
  }
}

template <class Arch>
void attend(const AttentionBlock& block) {
  const Panels<Arch> panels(block);
  for (int index = 0; index < panels.count; ++index) start_panel<Arch>(panels.all[index], block);
  for_each_block<Arch>(panels, block, [&block](const Panel& panel, const KeyBlock& keys, BlockNumbers<Arch>& numbers) {
    attend_keys<Arch>(panel, block, keys, numbers);
  });
  for (int index = 0; index < panels.count; ++index) write_results<Arch>(panels.all[index], block);
}

}  // namespace heed::kernels
