// Which parameters a score function takes, and of which shapes.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// Whether query and key may differ in head_dim: their matrices say what they have in common.
bool has_matrices(const ScoreFunction& score);

/// Checks a whole call of so many query heads. The other shapes have been checked before.
Status check_score(const ScoreFunction& score, const AttentionInputs& inputs, Index heads);

}  // namespace heed
