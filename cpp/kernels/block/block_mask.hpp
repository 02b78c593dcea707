// Which KV blocks are full, partial or empty for a panel: where the loop over keys steps, what it skips, and what is
// masked where the rows of a panel differ.
#pragma once

#include "kernels/expr/modify.hpp"
#include "kernels/score/mask.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// The end of the group of keys that `key` is in, `end` at the latest. A group here is as many consecutive keys as are
/// skipped or read together (AttentionPlan::skip_keys), from a multiple of that number on. 0: there are no groups.
inline int end_of_group(int group, int key, int end) {
  const int group_end = group > 0 ? (key / group + 1) * group : end;
  return group_end < end ? group_end : end;
}

/// The length of the groups that KV blocks do not cross, as groups are longer than a block; 0 where they are not, and a
/// block has several.
inline int step_group(const AttentionTask& task) {
  return task.loop.skip_keys > task.loop.key_block ? task.loop.skip_keys : 0;
}

/// The first key of the KV block that has `key` in it. Blocks are counted from the start of its page and group.
[[gnu::noinline]] inline int step_with(const AttentionTask& task, int key) {
  int begin = task.value.page_begin(key);
  if (const int group = step_group(task); group > 0) {
    const int group_begin = key / group * group;
    if (group_begin > begin) begin = group_begin;
  }
  return begin + (key - begin) / task.loop.key_block * task.loop.key_block;
}

/// The end of the KV block that begins with `start` and does not cross groups, `end` at the latest.
[[gnu::noinline]] inline int end_of_step(const AttentionTask& task, int group, int start, int end) {
  const int page_end = task.value.page_end(start);
  end = end_of_group(group, start, page_end < end ? page_end : end);
  return end - start < task.loop.key_block ? end : start + task.loop.key_block;
}

/// The groups of a KV block, a bit each from its first on: those that any row of a panel keeps something of, and those
/// that all rows keep whole.
struct KeepMasks {
  unsigned by_any = 0;
  unsigned by_all = ~0U;

  /// The mask of the first group.
  [[nodiscard]] BlockMask first_mask() const {
    if ((by_any & 1) == 0) return BlockMask::empty;
    return (by_all & 1) == 0 ? BlockMask::partial : BlockMask::full;
  }
  /// Takes the leading groups of [first, end) that are all empty, or all not empty; with `all`, every group. Returns
  /// the key that they end before. `left` is the first group's mask, and becomes partial where another differs.
  int take_segment(int group, int first, int end, bool all, BlockMask& left) {
    const bool is_out = left == BlockMask::empty;
    do {
      if (this->first_mask() != left) left = BlockMask::partial;
      first = end_of_group(group, first, end);
      by_any >>= 1;
      by_all >>= 1;
    } while (first < end && (all || is_out == (this->first_mask() == BlockMask::empty)));
    return first;
  }
};

/// Rows that share a mask are looked at once.
[[gnu::noinline]] inline KeepMasks find_keep_masks(const Panel& panel, const AttentionTask& task, const KeySpan& keys) {
  const int first = keys.first / task.mask.keep_block_keys;
  const int last = (keys.end() - 1) / task.mask.keep_block_keys;
  const int group =
      task.loop.skip_keys > task.mask.keep_block_keys ? task.loop.skip_keys / task.mask.keep_block_keys : 1;
  KeepMasks kept;
  const std::uint8_t* before = nullptr;
  for (int lane = 0; lane < panel.row_count; ++lane) {
    const std::uint8_t* const keep = panel.rows[lane].keep;
    if (keep == before) continue;
    before = keep;
    unsigned bit = 1;
    int group_end = (first / group + 1) * group;
    for (int i = first; i <= last; ++i) {
      if (i == group_end) {
        bit <<= 1;
        group_end += group;
      }
      if (keep[i * task.mask.keep_stride] != 0) {
        kept.by_any |= bit;
      } else {
        kept.by_all &= ~bit;
      }
    }
  }
  return kept;
}

/// Masks the keys of a partial block that a row does not keep.
[[gnu::noinline]] inline void apply_keep(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  for (int lane = 0; lane < kPanel; ++lane) {
    const std::uint8_t* const keep = panel.row(lane).keep;
    for (int line = 0; line < keys.lines(); ++line) {
      const int key = keys.key(line, lane);
      if (key < keys.end() && keep[key / task.mask.keep_block_keys * task.mask.keep_stride] == 0) {
        keys.scores[line * kPanel + lane] = kMasked;
      }
    }
  }
}

/// Finds the masks of a whole block before any score of it is made. A mask_mod makes the block as short as it can.
[[gnu::noinline]] inline void find_block_masks(const Panel& panel, const AttentionTask& task, KeyBlock& keys) {
  if (panel.rows[0].mask) keys.by_mask = find_mask(panel, task, keys);
  if (task.mask.mod) keys.by_mask_mod = find_mask_mod(panel, task, keys);
}

inline bool needs_all_scores(const Panel& panel, const AttentionTask& task) {
  return panel.wants_scores && task.score.stage != ScoreStage::masked;
}

/// Whether the block is empty for the panel, and nobody wants its scores from before the masks. What is wanted of its
/// weights is written then.
[[gnu::noinline]] inline bool skip_block(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  const bool is_gone =
      keys.by_mask == BlockMask::empty || keys.by_keep == BlockMask::empty || keys.by_mask_mod == BlockMask::empty;
  if (!is_gone || needs_all_scores(panel, task)) return false;
  mask_weights(panel, keys.first, keys.end());
  return true;
}

}  // namespace heed::kernels
