// Applies the expressions of the caller to scores: a function of each score, a mask, and a function of each weight.
// They are compiled apart from the other kernels.
#pragma once

#include "kernels/task/key_block.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// Rewrites the scores by score_mod and scales them for what follows. A score of -infinity is masked, and so is one
/// that is then below the range of f32; above it, the highest f32 counts. Returns whether any score is masked.
bool modify_scores(const Panel& panel, const AttentionTask& task, const KeyBlock& keys);

/// Whether mask_mod leaves a block full, partial or empty. Where each line is a key and no others are wanted, the block
/// shrinks to the keys from the first that a row sees to the last.
BlockMask find_mask_mod(const Panel& panel, const AttentionTask& task, KeyBlock& keys);

/// Masks the scores for which mask_mod is false.
void apply_mask_mod(const Panel& panel, const AttentionTask& task, const KeyBlock& keys);

/// Turns the scores into weights, and rewrites these by weight_mod. Masked scores stay masked.
void modify_weights(const Panel& panel, const AttentionTask& task, const KeyBlock& keys);

}  // namespace heed::kernels
