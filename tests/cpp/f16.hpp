// Numbers rounded to f16, by arithmetic in double precision.
#pragma once

#include "support.hpp"

namespace heed::testing {

/// To nearest, ties to even; NaN stays NaN.
Float16 round_to_half(float number);

/// The tensor in f16, in memory of the same layout; `tensor` is rounded along, so that both hold the same numbers.
Owned<Float16> halve(Owned<float>& tensor, Layout layout);

}  // namespace heed::testing
