#include "heed/machine.hpp"
#include "schedule/serial_executor.hpp"

namespace heed {

Executor& calling_thread() {
  static SerialExecutor executor;
  return executor;
}

}  // namespace heed
