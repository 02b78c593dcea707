// Expressions of the caller's where they meet scores: a function of each score, a mask, and a function of each weight.
// Defined in mods_of.hpp, which is compiled apart from the other kernels.
#pragma once

#include "kernels/key_block.hpp"
#include "kernels/panel.hpp"

namespace heed::kernels {

/// Rewrites the scores by score_mod and moves them to the units of what follows. One that is -infinity is masked, and
/// so is one below what single precision has in those units; above, the highest counts. Returns whether any is masked.
template <class Arch>
bool modify_scores(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys);

/// What mask_mod leaves of a run of keys. Where each line is a key and no others are wanted, the run becomes that from
/// the first key that a row sees to the last.
template <class Arch>
MaskedKeys look_at_mask_mod(const Panel& panel, const AttentionBlock& block, KeyBlock& keys);

/// Masks the scores for which mask_mod is false.
template <class Arch>
void apply_mask_mod(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys);

/// Makes of the scores weights, and rewrites those by weight_mod. Masked ones stay it.
template <class Arch>
void modify_weights(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys);

}  // namespace heed::kernels
