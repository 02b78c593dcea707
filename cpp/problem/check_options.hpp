// Which values of the options make sense, alone and for the inputs that they come with.
#pragma once

#include "heed/attention.hpp"

namespace heed {

/// The inputs' shapes have been checked.
Status check_options(const AttentionOptions& options, const AttentionInputs& inputs);

}  // namespace heed
