// How many workers an operation is worth.
#pragma once

#include <algorithm>

namespace heed {

/// Of `workers`, those that about so many multiplications pay for: at least one, the caller. Waking one more is paid
/// for by `work_per_worker`.
inline int choose_workers(int workers, double work_per_worker, double multiplications) {
  if (workers <= 1 || work_per_worker <= 0.0) return workers;
  return static_cast<int>(std::clamp(multiplications / work_per_worker, 1.0, static_cast<double>(workers)));
}

}  // namespace heed
