// Which values of the options make sense, alone and for the sizes that they come with.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// Checks the options of a whole call of these sizes.
Status check_options(const AttentionOptions& options, const SliceOf& whole, Index key_length);

/// Checks that the outputs asked for exist for the normalizer.
Status check_normalizer(const AttentionOptions& options, const AttentionOutputs& outputs);

}  // namespace heed
