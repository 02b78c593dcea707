// How many workers an operation is worth.
#pragma once

#include <algorithm>

namespace heed {

/// The number of workers, at most `workers`, that about so many multiplications pay for: at least one, the caller. One
/// more is worth waking for `work_per_worker`.
inline int choose_workers(int workers, double work_per_worker, double multiplications) {
  if (workers <= 1 || work_per_worker <= 0.0) return workers;
  return static_cast<int>(std::clamp(multiplications / work_per_worker, 1.0, static_cast<double>(workers)));
}

}  // namespace heed
