// Which values of the options make sense, alone and for the sizes that they come with.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// For a whole call of these sizes.
Status check_options(const AttentionOptions& options, const SliceOf& whole, Index key_length);

}  // namespace heed
