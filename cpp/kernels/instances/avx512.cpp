// The kernels for avx512.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels avx512_kernels;
constinit const AttentionKernels avx512_kernels = make_attention_kernels<xsimd::avx512dq>("avx512");

}  // namespace heed::kernels
