#include "heed/machine.hpp"

#include "kernels/instances/instances.hpp"
#include "schedule/serial_executor.hpp"

namespace heed {

const char* kernel_name() { return kernels::runnable_kernels().front()->name; }
int kernel_lanes() { return kernels::runnable_kernels().front()->lanes; }

Executor& calling_thread() {
  static SerialExecutor executor;
  return executor;
}

}  // namespace heed
