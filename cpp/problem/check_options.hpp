// Which values of the options make sense, alone and for the sizes that they come with.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// For a whole call of these sizes.
Status check_options(const AttentionOptions& options, const SliceOf& whole, Index key_length);

/// Whether what is asked for has a meaning with the weights that the normalizer makes.
Status check_normalizer(const AttentionOptions& options, const AttentionOutputs& outputs);

}  // namespace heed
