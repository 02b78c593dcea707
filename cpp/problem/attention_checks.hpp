// The rules of a call of attention by what they are about, each in a file of its name.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// Checks the options of a whole call of these sizes.
Status check_options(const AttentionOptions& options, const SliceOf& whole, Index key_length);

/// Checks that the outputs asked for exist for the normalizer.
Status check_normalizer(const AttentionOptions& options, const AttentionOutputs& outputs);

/// Whether query and key may differ in head_dim: their matrices say what they have in common.
bool has_matrices(const ScoreFunction& score);

/// Checks the score function of a whole call of so many query heads. The other shapes have been checked before.
Status check_score(const ScoreFunction& score, const AttentionInputs& inputs, Index heads);

/// Checks the blocks and turns `keep` into a view of all blocks of the whole, with strides of 0 where it repeats.
Status broadcast_blocks(const SliceOf& whole, Index key_length, SparseBlocks& blocks);

/// Whether a call can be the slice that it says it is. Expects shapes that have been checked against each other.
Status check_slice(const SliceOf& whole, const AttentionInputs& inputs, const AttentionOutputs& outputs);

}  // namespace heed
