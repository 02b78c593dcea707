// The vectors that the ceilings are measured with: the kernels'.
#pragma once

#include "kernels/simd/batch.hpp"

namespace heed::bench {

using kernels::Arch;

}  // namespace heed::bench
