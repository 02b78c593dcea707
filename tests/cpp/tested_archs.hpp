// The vectors that the kernels' parts are tested on: what every machine of this build has.
#pragma once

#include <tuple>
#include <xsimd/xsimd.hpp>

namespace heed::testing {

using TestedArchs = std::tuple<HEED_TEST_ARCHS>;

}  // namespace heed::testing
