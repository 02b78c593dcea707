// The vectors that the ceilings are measured with: the kernels'.
#pragma once

#include "kernels/arch.hpp"
#include "kernels/simd.hpp"

namespace heed::bench {

using Arch = kernels::BuiltArch;

}  // namespace heed::bench
