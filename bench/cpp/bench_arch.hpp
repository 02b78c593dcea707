// The vectors of the benches' loops: the kernels'.
#pragma once

#include "kernels/simd/batch.hpp"

namespace heed::bench {

using kernels::Arch;

}  // namespace heed::bench
