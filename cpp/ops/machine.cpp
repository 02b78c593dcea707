#include "heed/machine.hpp"

#include "kernels/instances/instances.hpp"

namespace heed {

const char* kernel_name() { return kernels::runnable_kernels().front()->name; }
int kernel_lanes() { return kernels::runnable_kernels().front()->lanes; }

}  // namespace heed
