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

/// Says what masks make of a run of keys, beside what `piece.left` says already, and where its numbers are. False: it
/// is passed over.
template <class Arch>
[[gnu::noinline]] bool prepare_piece(const Panel& panel, const AttentionBlock& block, BlockNumbers<Arch>& numbers,
                                     KeyBlock& piece) {
  if (piece.left != MaskedKeys::all) look_at_masks<Arch>(panel, block, piece);
  if (pass_over(panel, block, piece)) return false;
  piece.numbers = numbers.keys(piece);
  return true;
}

/// The keys of a step that concern a panel, in runs of units that are kept, or not: in one if somebody wants the scores
/// of all. `step` has room for them.
template <class Arch>
inline void find_pieces(const Panel& panel, const AttentionBlock& block, const KeyBlock& step,
                        BlockNumbers<Arch>& numbers, KeyPieces& pieces) {
  KeptUnits kept = look_at_units(panel, block, step);
  const bool is_whole = needs_all_scores(panel, block);
  float* scores = step.scores;
  for (int first = step.first; first < step.end();) {
    KeyBlock& piece = pieces.next();
    piece = step;
    piece.scores = scores;
    piece.left = kept.left();
    piece.first = first;
    first = kept.pass_alike(block.key_unit, first, step.end(), is_whole, piece.left);
    piece.count = first - piece.first;
    if (!prepare_piece<Arch>(panel, block, numbers, piece)) continue;
    scores += piece.lines() * kPanel<Arch>;
    pieces.add();
  }
}

/// What is done with a step of keys and a panel, where it is done seldom: all of this kind share one walk.
template <class Arch>
using Look = void (*)(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces,
                      BlockNumbers<Arch>& numbers);

/// Calls visit for each step of keys that concerns a panel: step by step, so that its keys pass every panel while they
/// are in the cache. Steps start at the same keys whatever the rows, so that a row's sums are grouped the same way in
/// any task.
template <class Arch, class Visit>
[[gnu::noinline]] void for_each_step(const Panels<Arch>& panels, const AttentionBlock& block, Visit visit) {
  const std::int64_t shared = attention_scratch_floats(kPanel<Arch>, panels.count, block.head_dim, block.value_dim, 0);
  float* const scores = block.scratch + shared;
  float* const addends = scores + std::ptrdiff_t{block.key_block} * kPanel<Arch>;
  float* const widened = addends + std::ptrdiff_t{block.key_block} * kPanel<Arch>;

  int stop = 0;
  for (int start = step_with(block, panels.first_begin); start < panels.last_end && !is_stopped(block); start = stop) {
    stop = end_of_step(block, unit_of_steps(block), start, panels.last_end);
    BlockNumbers<Arch> numbers(block, start, stop, widened);
    for (int index = 0; index < panels.count; ++index) {
      const Panel& panel = panels.all[index];
      const int begin = start > panel.first_begin ? start : panel.first_begin;
      const int end = stop < panel.last_end ? stop : panel.last_end;
      if (begin >= end) continue;
      const KeyBlock keys{{begin, end - begin}, {},     MaskedKeys::none, MaskedKeys::none,
                          MaskedKeys::none,     scores, addends};
      KeyPieces pieces;
      if (block.keep_keys > 0) {
        find_pieces<Arch>(panel, block, keys, numbers, pieces);
      } else {
        pieces.next() = keys;
        if (prepare_piece<Arch>(panel, block, numbers, pieces.next())) pieces.add();
      }
      if (pieces.begin() != pieces.end()) visit(panel, block, pieces, numbers);
    }
  }
}

/// The scores of a step's keys once more, or for the first time, with no results of theirs.
template <class Arch>
inline void look_at_scores(const Panel& panel, const AttentionBlock& block, const KeyPieces& pieces, float* maximum) {
  Panel quiet = panel;
  quiet.wants_scores = quiet.wants_weights = false;
  copy_line<Arch>(panel.maximum, maximum);
  for (const KeyBlock& keys : pieces) make_scores<RowsInLanes<Arch>>(quiet, block, keys, maximum);
}

}  // namespace heed::kernels
