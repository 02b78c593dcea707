// Blocks of keys that rows keep or leave out: where walks over keys step, what they pass over, and what is masked where
// the rows of a panel do not agree.
#pragma once

#include "kernels/key_block.hpp"
#include "kernels/mask.hpp"
#include "kernels/mods.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

/// Where the step of a walk starts that has `key` in it: they are counted from the start of its page and unit.
[[gnu::noinline]] static inline int step_with(const AttentionBlock& block, int key) {
  int begin = block.value.page_begin(key);
  if (block.key_unit > 0) {
    const int unit = key / block.key_unit * block.key_unit;
    if (unit > begin) begin = unit;
  }
  return begin + (key - begin) / block.key_block * block.key_block;
}

/// Where the step ends that starts at `start`, `end` at the latest.
[[gnu::noinline]] static inline int end_of_step(const AttentionBlock& block, int start, int end) {
  const int page_end = block.value.page_end(start);
  if (page_end < end) end = page_end;
  if (block.key_unit > 0) {
    const int unit_end = (start / block.key_unit + 1) * block.key_unit;
    if (unit_end < end) end = unit_end;
  }
  return end - start < block.key_block ? end : start + block.key_block;
}

template <class Arch>
inline MaskedKeys look_at_blocks(const Panel& panel, const AttentionBlock& block, const KeyLines& keys) {
  const int first = keys.first / block.keep_keys;
  const int count = (keys.end() - 1) / block.keep_keys - first + 1;
  return look_at_rows(panel, &AttentionRow::keep, [&](const std::uint8_t* keep, bool& any_kept, bool& any_left) {
    look_at_bytes<Arch>(keep + first * block.keep_stride, block.keep_stride, count, any_kept, any_left);
  });
}

/// Masks what a row of the panel leaves out of a run that others see.
template <class Arch>
[[gnu::noinline]] void leave_out(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    const std::uint8_t* const keep = panel.row(lane).keep;
    for (int line = 0; line < keys.lines(); ++line) {
      const int key = keys.key(line, lane);
      if (key < keys.end() && keep[key / block.keep_keys * block.keep_stride] == 0) {
        keys.scores[line * kPanel<Arch> + lane] = kMasked;
      }
    }
  }
}

/// What masks say of a whole run of keys, before any score of theirs is made. A mask_mod makes it as short as it can.
template <class Arch>
[[gnu::noinline]] void look_at_masks(const Panel& panel, const AttentionBlock& block, KeyBlock& keys) {
  if (panel.rows[0].mask) keys.masked = look_at_mask<Arch>(panel, block, keys);
  if (block.keep_keys > 0) keys.left = look_at_blocks<Arch>(panel, block, keys);
  if (block.mask_mod) keys.barred = look_at_mask_mod<Arch>(panel, block, keys);
}

/// Whether masks take the whole run from the panel, and nobody wants its scores from before them. What is wanted of
/// them else is written then.
[[gnu::noinline]] static inline bool pass_over(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const bool is_gone = keys.masked == MaskedKeys::all || keys.left == MaskedKeys::all || keys.barred == MaskedKeys::all;
  if (!is_gone) return false;
  if (panel.wants_scores && block.score_stage != ScoreStage::masked) return false;
  mask_weights(panel, keys.first, keys.end());
  return true;
}

}  // namespace heed::kernels
