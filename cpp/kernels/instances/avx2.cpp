// The kernels for avx2.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels avx2_kernels;
constinit const AttentionKernels avx2_kernels = make_attention_kernels<xsimd::fma3<xsimd::avx2>>("avx2");

}  // namespace heed::kernels
