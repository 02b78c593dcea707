// Rotary position embedding in double precision, by the definition.
#pragma once

#include <vector>

#include "operations/rope.hpp"

namespace heed::reference {

/// Returns [B, H, L, D], dense. Takes well-formed inputs only.
std::vector<double> rope(const RopeInputs& inputs, const RopeOptions& options);

}  // namespace heed::reference
