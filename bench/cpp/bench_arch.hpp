// The vectors that the ceilings are measured with: the widest that this file's flags allow.
#pragma once

#include "kernels/simd.hpp"

namespace heed::bench {

#ifdef __AVX512DQ__
using Arch = xsimd::avx512dq;
#else
using Arch = xsimd::best_arch;
#endif

}  // namespace heed::bench
