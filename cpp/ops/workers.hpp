// Chooses the number of workers for an operation.
#pragma once

#include "heed/executor.hpp"
#include "plan/choose_workers.hpp"

namespace heed {

inline int choose_workers(const Executor& executor, double multiplications) {
  return choose_workers(executor.worker_count(), executor.work_per_worker(), multiplications);
}

}  // namespace heed
