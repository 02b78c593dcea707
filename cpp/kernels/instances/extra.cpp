// The kernels beside attention.
#include "kernels/arch.hpp"
#include "kernels/extra_kernels.hpp"
#include "kernels/instances/instances.hpp"

namespace heed::kernels {

constinit const ExtraKernels extra_kernels = make_extra_kernels<BuiltArch>(kArchName);

}  // namespace heed::kernels
