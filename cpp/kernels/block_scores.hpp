// The scores of one panel against a block of keys, from the product to what the softmax takes:
// the same for rows in lanes and for keys in lanes, which differ in the `Way` to lay scores out.
#pragma once

#include "kernels/best_keys.hpp"
#include "kernels/kept_blocks.hpp"
#include "kernels/key_block.hpp"
#include "kernels/mask.hpp"
#include "kernels/panel.hpp"
#include "kernels/score_finish.hpp"
#include "kernels/score_mods.hpp"

namespace heed::kernels {

/// A number for each lane.
template <class Arch>
inline void copy_line(const float* from, float* to) {
  for (int lane = 0; lane < kPanel<Arch>; lane += kLanes<Arch>) {
    Batch<Arch>::load_aligned(from + lane).store_aligned(to + lane);
  }
}

/// Scores of the keys as normalizers take them, in block.score_units. Raises maximum[panel]. Returns whether any may be
/// masked.
template <class Way>
inline bool make_scores(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys, float* maximum) {
  using Arch = typename Way::Arch;
  const bool sees_all = panel.last_begin <= keys.first && keys.end() <= panel.first_end && keys.are_full();
  const bool has_addends = panel.rows[0].bias || (panel.rows[0].mask && keys.masked != MaskedKeys::none);
  const bool has_left = keys.left != MaskedKeys::none;
  const bool is_barred = keys.barred != MaskedKeys::none;
  bool has_masked = has_addends || !sees_all || has_left || is_barred;

  alignas(kScratchAlignment) float before[kPanel<Arch>];
  copy_line<Arch>(maximum, before);
  Way::score(panel, block, keys, maximum);
  if (block.finish != Finish::nothing) finish_scores<Arch>(panel, block, keys);
  const auto hand_out = [&](ScoreStage stage) {
    if (panel.wants_scores && block.score_stage == stage) {
      const float units = stage == ScoreStage::masked ? block.score_units : block.raw_units;
      Way::park(panel, keys, &AttentionRow::scores, units == 1.0F ? 1.0F : kLn2);
    }
  };
  hand_out(ScoreStage::raw);
  if (block.softcap != 0.0F) cap_scores<Arch>(block.softcap * block.raw_units, keys.lines(), keys.scores);
  hand_out(ScoreStage::capped);
  if (block.score_mod) has_masked |= modify_scores<Arch>(panel, block, keys);
  if (block.has_alibi) add_alibi<Arch>(panel, block.score_units, keys, keys.scores);

  const bool is_product = block.pairing == Pairing::product && block.finish == Finish::nothing;
  if (has_masked || block.softcap != 0.0F || block.score_mod || block.has_alibi || !is_product) {
    // The maximum of the product says nothing any more: start again from the one before.
    copy_line<Arch>(before, maximum);
    if (has_left) leave_out<Arch>(panel, block, keys);
    if (is_barred) apply_mask_mod<Arch>(panel, block, keys);
    const Overlay overlay = has_addends ? Way::gather(panel, block, keys) : Overlay::nothing;
    if (has_addends || !sees_all) {
      mask_scores<Arch>(panel, keys, overlay, keys.addends, keys.scores, maximum);
    } else {
      find_maximum<Arch>(keys.lines(), keys.scores, maximum);
    }
  }
  hand_out(ScoreStage::masked);
  if (panel.keeps_best) keep_best<Arch>(panel, keys);
  if (block.weight_mod) modify_weights<Arch>(panel, block, keys);
  if (panel.wants_weights) Way::park(panel, keys, &AttentionRow::weights, 1.0F);
  return has_masked || panel.keeps_best || is_any_without_key<Arch>(maximum);
}

}  // namespace heed::kernels
