// Whether a call can be the slice of a larger one that it says it is.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// Expects shapes that have been checked against each other.
Status check_slice(const SliceOf& whole, const AttentionInputs& inputs, const AttentionOutputs& outputs);

}  // namespace heed
