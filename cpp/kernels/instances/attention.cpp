// The kernels of attention.
#include "kernels/arch.hpp"
#include "kernels/attention_kernels.hpp"
#include "kernels/instances/instances.hpp"

namespace heed::kernels {

constinit const AttentionKernels attention_kernels = make_attention_kernels<BuiltArch>(kArchName);

}  // namespace heed::kernels
