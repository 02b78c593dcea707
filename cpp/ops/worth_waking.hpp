// How many workers an operation is worth.
#pragma once

#include <algorithm>

#include "heed/executor.hpp"

namespace heed {

/// For about so many multiplications: at least one, the caller.
inline int worth_waking(const Executor& executor, double multiplications) {
  const int workers = executor.worker_count();
  if (workers <= 1 || executor.work_per_worker() <= 0.0) return workers;
  return static_cast<int>(std::clamp(multiplications / executor.work_per_worker(), 1.0, static_cast<double>(workers)));
}

}  // namespace heed
