// Score transform: what an operand of the row and one of the key make of a dot product or distance.
#pragma once

#include "kernels/score/panel_scores.hpp"
#include "kernels/simd/sigmoid.hpp"
#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"
#include "kernels/task/score_constants.hpp"

namespace heed::kernels {

/// What the score's transform needs of the keys in one vector of scores.
inline Batch key_operands(const AttentionTask& task, const KeySpan& keys, int line, int vector) {
  if (keys.keys_per_line == 1) return Batch::broadcast(task.score.key_operands[keys.first + line]);
  return Batch::load_unaligned(task.score.key_operands + keys.key(line, vector * kLanes));
}

/// Rewrites keys.scores. Beside the dot product one branch more for each vector costs nothing.
[[gnu::noinline]] inline void transform_scores(const Panel& panel, const AttentionTask& task, const KeyBlock& keys) {
  alignas(kScratchAlignment) float numbers[kPanel];
  for (int lane = 0; lane < kPanel; ++lane) numbers[lane] = panel.row(lane).row_operand;
  const Sigmoid sigmoid(kExp2OfResults);
  const Batch log2e(kLog2E);
  change_scores(keys.lines(), keys.scores, [&](Batch score, int line, int vector) {
    const Batch of_row = Batch::load_aligned(numbers + vector * kLanes);
    if (task.score.transform == ScoreTransform::times_row) return score * of_row;
    if (task.score.transform == ScoreTransform::root_times_row) return xsimd::sqrt(score) * of_row;
    const Batch of_key = key_operands(task, keys, line, vector);
    return score * (task.score.transform == ScoreTransform::times_key ? of_key : sigmoid((of_row + of_key) * log2e));
  });
}

}  // namespace heed::kernels
