// The kernels for sse2.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels sse2_kernels;
constinit const AttentionKernels sse2_kernels = make_attention_kernels<xsimd::sse2>("sse2");

}  // namespace heed::kernels
