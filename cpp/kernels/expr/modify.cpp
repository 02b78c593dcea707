#include "kernels/expr/modify.hpp"

#include <limits>

#include "kernels/expr/bounds.hpp"
#include "kernels/expr/evaluate.hpp"
#include "kernels/score/mask.hpp"
#include "kernels/score/panel_scores.hpp"
#include "kernels/softmax/apply_row_stats.hpp"

namespace heed::kernels {

namespace {

/// Computes an expression, and returns the register of its result.
[[gnu::noinline]] Register evaluate(const Expression& expression, const Panel& panel, const AttentionTask& task,
                                    const KeyBlock& keys,
                                    float* rewritten) {  // NOLINT(readability-non-const-parameter): is written
  const Evaluation evaluation(expression, panel, task, keys, rewritten);
  evaluation.run();
  return evaluation.result();
}

}  // namespace

bool modify_scores(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  const Register made = evaluate(*task.score.mod, panel, task, keys, keys.scores);
  const Batch scale(task.score.log2e_scale);
  const Batch highest(std::numeric_limits<float>::max());
  Batch lowest = highest;
  change_scores(keys.lines(), keys.scores, [&](Batch /*score*/, int line, int vector) {
    const float* const natural = made.numbers + line * made.step + vector * kLanes;
    const Batch score = at_most(Batch::load_aligned(natural) * scale, highest);
    lowest = at_most(lowest, score);  // of those that are not NaN
    return score;
  });
  return xsimd::any(lowest == Batch(kMasked));
}

BlockMask find_mask_mod(const Panel& panel, const AttentionTask& task, KeyBlock& keys) {
  const Evaluation evaluation(*task.mask.mod, panel, task, keys, nullptr);
  const Bounds bounds = BlockBounds(evaluation, *task.mask.mod, panel, keys).find();
  if (bounds.are_one()) return bounds.hold(0.0F) ? BlockMask::empty : BlockMask::full;
  evaluation.run();
  const Register sees = evaluation.result();
  bool any_masked = false;
  int first_seen = keys.lines();
  int end_seen = 0;
  // Rows and keys that fill a line up repeat others.
  for (int line = 0; line < keys.lines(); ++line) {
    bool any_seen = false;
    for (int lane = 0; lane < kPanel; lane += kLanes) {
      const auto is_masked = Batch::load_aligned(sees.numbers + line * sees.step + lane) == Batch(0.0F);
      any_seen |= !xsimd::all(is_masked);
      any_masked |= xsimd::any(is_masked);
    }
    if (!any_seen) continue;
    if (end_seen == 0) first_seen = line;
    end_seen = line + 1;
  }
  if (end_seen == 0) return BlockMask::empty;
  const bool wants_others = panel.wants_scores && task.score.stage != ScoreStage::masked;
  if (keys.keys_per_line == 1 && !wants_others) {
    const int first = keys.first + first_seen;
    const int end = keys.first + end_seen;
    mask_weights(panel, keys.first, first);
    mask_weights(panel, end, keys.end());
    keys.first = first;
    keys.count = end - first;
  }
  return any_masked ? BlockMask::partial : BlockMask::full;
}

void apply_mask_mod(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  const Register sees = evaluate(*task.mask.mod, panel, task, keys, nullptr);
  change_scores(keys.lines(), keys.scores, [&](Batch score, int line, int vector) {
    const float* const seen = sees.numbers + line * sees.step + vector * kLanes;
    return xsimd::select(Batch::load_aligned(seen) == Batch(0.0F), Batch(kMasked), score);
  });
}

void modify_weights(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  // The weights are a register of the program, so that masked scores are still there afterwards.
  const Evaluation evaluation(*task.weight.mod, panel, task, keys, nullptr);
  float* const weights = evaluation[kRewritten].numbers;
  for (int i = 0; i < keys.lines() * kPanel; ++i) weights[i] = keys.scores[i];
  apply_row_stats(panel, task.weight.stats_normalizer, 1.0F, keys.lines(), weights);
  evaluation.run();
  const Register made = evaluation.result();
  change_scores(keys.lines(), keys.scores, [&](Batch score, int line, int vector) {
    const float* const weight = made.numbers + line * made.step + vector * kLanes;
    return xsimd::select(score == Batch(kMasked), score, Batch::load_aligned(weight));
  });
}

}  // namespace heed::kernels
