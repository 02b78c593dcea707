// The kernels for emulated256.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels emulated256_kernels;
constinit const AttentionKernels emulated256_kernels = make_attention_kernels<xsimd::emulated<256>>("emulated256");

}  // namespace heed::kernels
