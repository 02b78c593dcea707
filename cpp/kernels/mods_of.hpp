// What mods.hpp declares.
#pragma once

#include <limits>

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
MaskedKeys look_at_mask_mod(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys) {
  const Register sees = evaluate<Arch>(*block.mask_mod, panel, block, keys, nullptr);
  bool any_seen = false;
  bool any_masked = false;
  // Rows and keys that fill a line up repeat others.
  const float* line = sees.numbers;
  for (int left = keys.lines(); left > 0 && !(any_seen && any_masked); --left, line += sees.step) {
    for (int lane = 0; lane < kPanel<Arch>; lane += kLanes<Arch>) {
      const auto is_masked = Batch<Arch>::load_aligned(line + lane) == Batch<Arch>(0.0F);
      any_seen |= !xsimd::all(is_masked);
      any_masked |= xsimd::any(is_masked);
    }
  }
  return !any_masked ? MaskedKeys::none : any_seen ? MaskedKeys::some : MaskedKeys::all;
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
