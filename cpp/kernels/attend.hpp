// Attention for the rows of one task: block by block over the keys, panel by panel over
// the rows. Queries lie in lanes, so a score tile is keys x queries and comes out in the
// layout that the product with the values reads; keys and values are read where they lie.
#pragma once

#include "kernels/mask.hpp"
#include "kernels/online_softmax.hpp"
#include "kernels/panel.hpp"
#include "kernels/results.hpp"
#include "kernels/scores.hpp"
#include "kernels/weighted_sum.hpp"

namespace heed::kernels {

template <class Arch>
inline void start_panel(const Panel& panel, const AttentionBlock& block) {
  pack_queries<Arch>(panel, block.head_dim, block.scale);
  for (int i = 0; i < block.value_dim * kPanel<Arch>; ++i) panel.output[i] = 0.0F;
  for (int lane = 0; lane < kPanel<Arch>; ++lane) {
    panel.maximum[lane] = kNoMaximum;
    panel.sum[lane] = 0.0F;
  }
}

/// Memory shared by the panels of a task: one block of scores and of addends.
struct BlockScratch {
  float* scores;
  float* addends;
};

template <class Arch>
inline void attend_keys(const Panel& panel, const AttentionBlock& block, const BlockScratch& scratch, int first_key,
                        int count) {
  const bool has_addends = panel.rows[0].mask || panel.rows[0].bias;
  const bool sees_all = panel.last_begin <= first_key && first_key + count <= panel.first_end;
  const bool is_open = sees_all && !has_addends;

  Batch<Arch> older[kPanelVectors];
  for (int vector = 0; vector < kPanelVectors; ++vector) {
    older[vector] = Batch<Arch>::load_aligned(panel.maximum + vector * kLanes<Arch>);
  }
  Batch<Arch> maximum[kPanelVectors] = {older[0], older[1]};
  score_keys<Arch>(panel, block, first_key, count, scratch.scores, maximum);
  if (!is_open) {
    // The maximum so far includes scores that are about to be masked: start again.
    maximum[0] = older[0];
    maximum[1] = older[1];
    if (has_addends) gather_addends<Arch>(panel, block, first_key, count, scratch.addends);
    mask_scores<Arch>(panel, first_key, count, has_addends ? scratch.addends : nullptr, scratch.scores, maximum);
  }
  if (panel.rows[0].weights) park_scores<Arch>(panel, first_key, count, scratch.scores);

  if (is_open) {
    const Rescale<Arch> rescale = exponentiate<Arch, false>(panel, maximum, count, scratch.scores);
    add_values<Arch>(panel, block, first_key, count, scratch.scores, rescale);
  } else {
    const Rescale<Arch> rescale = exponentiate<Arch, true>(panel, maximum, count, scratch.scores);
    if (are_values_finite<Arch>(block, first_key, count)) {
      add_values<Arch>(panel, block, first_key, count, scratch.scores, rescale);
    } else {
      add_attended_values<Arch>(panel, block, first_key, count, scratch.scores, rescale);
    }
  }
}

template <class Arch>
void attend(const AttentionBlock& block) {
  const int panels = (block.row_count + kPanel<Arch> - 1) / kPanel<Arch>;
  const std::int64_t shared = attention_scratch_floats(kPanel<Arch>, panels, block.head_dim, block.value_dim, 0);
  float* const scores = block.scratch + shared;
  const BlockScratch scratch{scores, scores + block.key_block * kPanel<Arch>};

  int first_begin = block.key_length;
  int last_end = 0;
  for (int index = 0; index < panels; ++index) {
    const Panel panel = make_panel<Arch>(block, index);
    start_panel<Arch>(panel, block);
    if (panel.first_begin < first_begin) first_begin = panel.first_begin;
    if (panel.last_end > last_end) last_end = panel.last_end;
  }
  // Blocks start at multiples of key_block whatever the rows, so that a row's sums are
  // grouped the same way in any task.
  for (int start = first_begin / block.key_block * block.key_block; start < last_end; start += block.key_block) {
    for (int index = 0; index < panels; ++index) {
      const Panel panel = make_panel<Arch>(block, index);
      const int begin = start > panel.first_begin ? start : panel.first_begin;
      const int end = start + block.key_block < panel.last_end ? start + block.key_block : panel.last_end;
      if (begin < end) attend_keys<Arch>(panel, block, scratch, begin, end - begin);
    }
  }
  for (int index = 0; index < panels; ++index) write_results<Arch>(make_panel<Arch>(block, index), block);
}

template <class Arch>
constexpr AttentionKernels make_attention_kernels(const char* name) noexcept {
  return {name, kLanes<Arch>, kPanel<Arch>, &attend<Arch>};
}

}  // namespace heed::kernels
