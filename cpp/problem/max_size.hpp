// The largest size of anything.
#pragma once

#include "heed/tensor_view.hpp"

namespace heed {

/// Far enough below 2^31 for positions and block ends to be 32-bit numbers.
inline constexpr Index kMaxSize = Index{1} << 30;

}  // namespace heed
