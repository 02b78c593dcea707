// From the gradients of what softcap and the caller's functions make back to those of what they take. Functions of
// weights come before dropout, those of scores behind softcap.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "kernels/expr/differentiate.hpp"
#include "kernels/score/mask.hpp"
#include "kernels/score/softcap.hpp"
#include "kernels/softmax/apply_row_stats.hpp"

namespace heed::kernels {

/// Tiles of gradients, and memory for others, [key_block][kPanel] each.
struct FunctionTiles {
  float* numbers;  // what a function takes
  float* gradients;
  float* indices;
};

/// Given what the function takes, and the gradients of what it makes.
inline void differentiate_function(const FunctionSlopes& function, const FunctionInput& input,
                                   const FunctionTiles& tiles) {
  for (int i = 0; i < function.read_count; ++i) {
    add_table_gradients(function.reads[i], input, tiles.gradients, tiles.indices, function.table_gradients);
  }
  if (function.slope) multiply_by_slope(*function.slope, input, tiles.gradients);
}

/// Whether differentiate_scores() has anything to do.
inline bool are_scores_rewritten(const AttentionTask& task, const FunctionSlopes& function) {
  return task.score.softcap != 0.0F || function.are_wanted();
}

/// Given raw scores, takes the gradients of what is made of them back through the function and through softcap.
inline void differentiate_scores(const FunctionSlopes& function, const FunctionInput& raw, const FunctionTiles& tiles) {
  const float softcap = raw.task.score.softcap;
  const int lines = raw.keys.lines();
  if (function.are_wanted()) {
    for (int i = 0; i < lines * kPanel; ++i) tiles.numbers[i] = raw.numbers[i];
    if (softcap != 0.0F) cap_scores(softcap, lines, tiles.numbers);
    differentiate_function(function, {raw.panel, raw.task, raw.keys, tiles.numbers}, tiles);
  }
  if (softcap != 0.0F) differentiate_softcap(softcap, lines, raw.numbers, tiles.gradients);
}

/// Makes numbers of masked pairs zeros, given scores as normalizers take them.
inline void clear_masked(const FunctionInput& scores, float* tile) {
  change_scores(scores.keys.lines(), tile, [&](Batch number, int line, int vector) {
    const Batch score = Batch::load_aligned(scores.numbers + line * kPanel + vector * kLanes);
    return xsimd::select(score == Batch(kMasked), Batch(0.0F), number);
  });
}

/// Given scores as normalizers take them, makes weights of them.
inline void differentiate_weight_mod(const FunctionSlopes& function, const FunctionInput& scores,
                                     const FunctionTiles& tiles) {
  const auto& [panel, task, keys, numbers] = scores;
  for (int i = 0; i < keys.lines() * kPanel; ++i) tiles.numbers[i] = numbers[i];
  apply_row_stats(panel, task.weight.normalizer, 1.0F, keys.lines(), tiles.numbers);
  clear_masked(scores, tiles.gradients);
  differentiate_function(function, {panel, task, keys, tiles.numbers}, tiles);
}

/// Makes of weights again what the forward pass made of them.
inline void rewrite_weights(const Expression& function, const FunctionInput& scores, float* weights) {
  apply_function(function, {scores.panel, scores.task, scores.keys, weights}, weights);
  clear_masked(scores, weights);
}

}  // namespace heed::kernels
