// The kernels for emulated512.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

extern const AttentionKernels emulated512_kernels;
constinit const AttentionKernels emulated512_kernels = make_attention_kernels<xsimd::emulated<512>>("emulated512");

}  // namespace heed::kernels
