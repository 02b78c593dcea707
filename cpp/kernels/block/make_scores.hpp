// The scores of one panel against a KV block, from the dot product to what the normalizer takes. It is the same for
// queries in lanes and for keys in lanes, which differ in their `Layout`.
#pragma once

#include "kernels/block/block_mask.hpp"
#include "kernels/score/alibi.hpp"
#include "kernels/score/mask.hpp"
#include "kernels/score/softcap.hpp"
#include "kernels/score/transform.hpp"
#include "kernels/softmax/top_k_mask.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"
#include "kernels/task/score_constants.hpp"

namespace heed::kernels {

/// Copies a number for each lane.
inline void copy_line(const float* from, float* to) {
  for (int lane = 0; lane < kPanel; lane += kLanes) {
    Batch::load_aligned(from + lane).store_aligned(to + lane);
  }
}

/// What some scores of a block may stand for, beside keys that are seen: lanes without a key, or masked keys as well.
enum class Masked : std::uint8_t { none, lanes, keys };

/// Makes the scores of the keys as normalizers take them, times log2e_scale, and raises row_max[panel].
template <class Layout>
inline Masked make_scores(const Panel& panel, const AttentionTask& task, const KeyBlock& keys, float* row_max) {
  const bool sees_all = panel.last_begin <= keys.first && keys.end() <= panel.first_end;
  const bool has_addends = panel.rows[0].bias || (panel.rows[0].mask && keys.by_mask != BlockMask::full);
  const bool applies_keep = keys.by_keep != BlockMask::full;
  const bool applies_mask_mod = keys.by_mask_mod != BlockMask::full;
  bool has_masked = has_addends || !sees_all || applies_keep || applies_mask_mod;

  alignas(kScratchAlignment) float before[kPanel];
  copy_line(row_max, before);
  Layout::score(panel, task, keys, row_max);
  if (task.score.transform != ScoreTransform::none) transform_scores(panel, task, keys);
  const auto store_stage = [&](ScoreStage stage) {
    if (panel.wants_scores && task.score.stage == stage) {
      const float scale = stage == ScoreStage::masked ? task.score.log2e_scale : task.score.raw_scale;
      Layout::store(panel, keys, &AttentionRow::scores, scale == 1.0F ? 1.0F : kLn2);
    }
  };
  store_stage(ScoreStage::raw);
  if (task.score.softcap != 0.0F) cap_scores(task.score.softcap * task.score.raw_scale, keys.lines(), keys.scores);
  store_stage(ScoreStage::capped);
  if (task.score.mod) has_masked |= modify_scores(panel, task, keys);
  if (task.score.alibi_slopes) add_alibi(panel, task.score.log2e_scale, keys, keys.scores);

  if (has_masked || !keys.are_full() || !task.score.is_plain()) {
    // The row_max of the dot product no longer holds: start again from the one before.
    copy_line(before, row_max);
    if (applies_keep) apply_keep(panel, task, keys);
    if (applies_mask_mod) apply_mask_mod(panel, task, keys);
    const Overlay overlay = has_addends ? Layout::collect_overlay(panel, task, keys) : Overlay::none;
    if (has_addends || !sees_all || !keys.are_full()) {
      mask_scores(panel, keys, overlay, keys.addends, keys.scores, row_max);
    } else {
      find_row_max(keys.lines(), keys.scores, row_max);
    }
  }
  store_stage(ScoreStage::masked);
  if (panel.has_top_k) mask_outside_top_k(panel, keys);
  if (task.weight.mod) modify_weights(panel, task, keys);
  if (panel.wants_weights) Layout::store(panel, keys, &AttentionRow::weights, 1.0F);
  if (has_masked || panel.has_top_k || is_any_without_key(row_max)) return Masked::keys;
  return keys.are_full() ? Masked::none : Masked::lanes;
}

}  // namespace heed::kernels
