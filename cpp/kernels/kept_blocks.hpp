// Blocks of keys that rows keep or leave out: where walks over keys step, what they pass over, and what is masked where
// the rows of a panel do not agree.
#pragma once

#include "kernels/key_block.hpp"
#include "kernels/mask.hpp"
#include "kernels/mods.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

/// The end of the unit that `key` is in, `end` at the latest.
inline int end_of_unit(int unit, int key, int end) {
  const int unit_end = unit > 0 ? (key / unit + 1) * unit : end;
  return unit_end < end ? unit_end : end;
}

/// Steps do not cross from one unit that is longer to the next.
inline int unit_of_steps(const AttentionBlock& block) { return block.key_unit > block.key_block ? block.key_unit : 0; }

/// Where the step of a walk starts that has `key` in it: they are counted from the start of its page and unit.
[[gnu::noinline]] static inline int step_with(const AttentionBlock& block, int key) {
  int begin = block.value.page_begin(key);
  if (const int unit = unit_of_steps(block); unit > 0) {
    const int unit_begin = key / unit * unit;
    if (unit_begin > begin) begin = unit_begin;
  }
  return begin + (key - begin) / block.key_block * block.key_block;
}

/// Where the step ends that starts at `start` and does not cross units, `end` at the latest.
[[gnu::noinline]] static inline int end_of_step(const AttentionBlock& block, int unit, int start, int end) {
  const int page_end = block.value.page_end(start);
  end = end_of_unit(unit, start, page_end < end ? page_end : end);
  return end - start < block.key_block ? end : start + block.key_block;
}

/// Of a step's units, a bit each from its first on: which any row of a panel keeps something of, and which all rows
/// keep whole.
struct KeptUnits {
  unsigned by_any = 0;
  unsigned by_all = ~0U;

  /// Of the first unit.
  [[nodiscard]] MaskedKeys left() const {
    if ((by_any & 1) == 0) return MaskedKeys::all;
    return (by_all & 1) == 0 ? MaskedKeys::some : MaskedKeys::none;
  }
  /// Passes the units of [first, end) that are left out as the first is, or that are not as it is not, or all of them.
  /// Gives the key that they end before, and says in `left` what is left out of them.
  int pass_alike(int unit, int first, int end, bool all, MaskedKeys& left) {
    const bool is_out = left == MaskedKeys::all;
    do {
      if (this->left() != left) left = MaskedKeys::some;
      first = end_of_unit(unit, first, end);
      by_any >>= 1;
      by_all >>= 1;
    } while (first < end && (all || is_out == (this->left() == MaskedKeys::all)));
    return first;
  }
};

/// What neighbours share is looked at once.
[[gnu::noinline]] static inline KeptUnits look_at_units(const Panel& panel, const AttentionBlock& block,
                                                        const KeyLines& keys) {
  const int first = keys.first / block.keep_keys;
  const int last = (keys.end() - 1) / block.keep_keys;
  const int unit = block.key_unit > block.keep_keys ? block.key_unit / block.keep_keys : 1;
  KeptUnits kept;
  const std::uint8_t* before = nullptr;
  for (int lane = 0; lane < panel.row_count; ++lane) {
    const std::uint8_t* const keep = panel.rows[lane].keep;
    if (keep == before) continue;
    before = keep;
    unsigned bit = 1;
    int unit_end = (first / unit + 1) * unit;
    for (int i = first; i <= last; ++i) {
      if (i == unit_end) {
        bit <<= 1;
        unit_end += unit;
      }
      if (keep[i * block.keep_stride] != 0) {
        kept.by_any |= bit;
      } else {
        kept.by_all &= ~bit;
      }
    }
  }
  return kept;
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
  if (block.mask_mod) keys.barred = look_at_mask_mod<Arch>(panel, block, keys);
}

inline bool needs_all_scores(const Panel& panel, const AttentionBlock& block) {
  return panel.wants_scores && block.score_stage != ScoreStage::masked;
}

/// Whether masks take the whole run from the panel, and nobody wants its scores from before them. What is wanted of
/// them else is written then.
[[gnu::noinline]] static inline bool pass_over(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const bool is_gone = keys.masked == MaskedKeys::all || keys.left == MaskedKeys::all || keys.barred == MaskedKeys::all;
  if (!is_gone || needs_all_scores(panel, block)) return false;
  mask_weights(panel, keys.first, keys.end());
  return true;
}

}  // namespace heed::kernels
