#include "schedule/worker_pool.hpp"

namespace heed {

TaskBoard& shared_board() {
  // In memory that is zero from the start: workers run no constructors.
  static constinit TaskBoard board;
  return board;
}

}  // namespace heed
