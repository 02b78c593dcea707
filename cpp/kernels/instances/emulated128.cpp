// The kernels for emulated128.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels emulated128_kernels;
constinit const AttentionKernels emulated128_kernels = make_attention_kernels<xsimd::emulated<128>>("emulated128");

}  // namespace heed::kernels
