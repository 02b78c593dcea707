// The kernels for neon64.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels neon64_kernels;
constinit const AttentionKernels neon64_kernels = make_attention_kernels<xsimd::neon64>("neon64");

}  // namespace heed::kernels
