// What mods.hpp declares.
#pragma once

#include <limits>

#include "kernels/bounds.hpp"
#include "kernels/evaluate.hpp"
#include "kernels/mask.hpp"
#include "kernels/mods.hpp"
#include "kernels/score_mods.hpp"
#include "kernels/weigh_by_rules.hpp"

namespace heed::kernels {

/// Where the numbers of an expression come to be, all of which have been computed.
template <class Arch>
[[gnu::noinline]] Register evaluate(const Expression& expression, const Panel& panel, const AttentionBlock& block,
                                    const KeyBlock& keys,
                                    float* rewritten) {  // NOLINT(readability-non-const-parameter): is written
  const Evaluation<Arch> evaluation(expression, panel, block, keys, rewritten);
  evaluation.run();
  return evaluation.result();
}

template <class Arch>
bool modify_scores(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Register made = evaluate<Arch>(*block.score_mod, panel, block, keys, keys.scores);
  const Batch<Arch> units(block.score_units);
  const Batch<Arch> highest(std::numeric_limits<float>::max());
  Batch<Arch> lowest = highest;
  change_scores<Arch>(keys.lines(), keys.scores, [&](Batch<Arch> /*score*/, int line, int vector) {
    const float* const natural = made.numbers + line * made.step + vector * kLanes<Arch>;
    const Batch<Arch> score = at_most<Arch>(Batch<Arch>::load_aligned(natural) * units, highest);
    lowest = at_most<Arch>(lowest, score);  // of those that are not NaN
    return score;
  });
  return xsimd::any(lowest == Batch<Arch>(kMasked));
}

template <class Arch>
MaskedKeys look_at_mask_mod(const Panel& panel, const AttentionBlock& block, KeyBlock& keys) {
  const Evaluation<Arch> evaluation(*block.mask_mod, panel, block, keys, nullptr);
  const Bounds bounds = BlockBounds<Arch>(evaluation, *block.mask_mod, panel, keys).find();
  if (bounds.are_one()) return bounds.hold(0.0F) ? MaskedKeys::all : MaskedKeys::none;
  evaluation.run();
  const Register sees = evaluation.result();
  bool any_masked = false;
  int first_seen = keys.lines();
  int end_seen = 0;
  // Rows and keys that fill a line up repeat others.
  for (int line = 0; line < keys.lines(); ++line) {
    bool any_seen = false;
    for (int lane = 0; lane < kPanel<Arch>; lane += kLanes<Arch>) {
      const auto is_masked = Batch<Arch>::load_aligned(sees.numbers + line * sees.step + lane) == Batch<Arch>(0.0F);
      any_seen |= !xsimd::all(is_masked);
      any_masked |= xsimd::any(is_masked);
    }
    if (!any_seen) continue;
    if (end_seen == 0) first_seen = line;
    end_seen = line + 1;
  }
  if (end_seen == 0) return MaskedKeys::all;
  const bool wants_others = panel.wants_scores && block.score_stage != ScoreStage::masked;
  if (keys.per_line == 1 && !wants_others) {
    const int first = keys.first + first_seen;
    const int end = keys.first + end_seen;
    mask_weights(panel, keys.first, first);
    mask_weights(panel, end, keys.end());
    keys.first = first;
    keys.count = end - first;
  }
  return any_masked ? MaskedKeys::some : MaskedKeys::none;
}

template <class Arch>
void apply_mask_mod(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Register sees = evaluate<Arch>(*block.mask_mod, panel, block, keys, nullptr);
  change_scores<Arch>(keys.lines(), keys.scores, [&](Batch<Arch> score, int line, int vector) {
    const float* const seen = sees.numbers + line * sees.step + vector * kLanes<Arch>;
    return xsimd::select(Batch<Arch>::load_aligned(seen) == Batch<Arch>(0.0F), Batch<Arch>(kMasked), score);
  });
}

template <class Arch>
void modify_weights(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  // In a register of the program's, so that masked scores are still there afterwards.
  const Evaluation<Arch> evaluation(*block.weight_mod, panel, block, keys, nullptr);
  float* const weights = evaluation[kRewritten].numbers;
  for (int i = 0; i < keys.lines() * kPanel<Arch>; ++i) weights[i] = keys.scores[i];
  weigh_by_rules<Arch>(panel, block.by_rules, 1.0F, keys.lines(), weights);
  evaluation.run();
  const Register made = evaluation.result();
  change_scores<Arch>(keys.lines(), keys.scores, [&](Batch<Arch> score, int line, int vector) {
    const float* const weight = made.numbers + line * made.step + vector * kLanes<Arch>;
    return xsimd::select(score == Batch<Arch>(kMasked), score, Batch<Arch>::load_aligned(weight));
  });
}

}  // namespace heed::kernels
