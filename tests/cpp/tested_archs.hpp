// The vectors that the kernels' parts are tested on: the build's.
#pragma once

#include <tuple>

#include "kernels/arch.hpp"

namespace heed::testing {

using TestedArchs = std::tuple<kernels::BuiltArch>;

}  // namespace heed::testing
