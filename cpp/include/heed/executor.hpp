// Who runs the tasks of an operation. The implementations live in schedule/.
#pragma once

#include "heed/tensor_view.hpp"

namespace heed {

/// One kind of work cut into numbered pieces that may run in any order and at
/// the same time. `worker` tells the pieces which scratch memory is theirs.
struct TaskSet {
  void (*run)(void* context, Index task, int worker);
  void* context;
  Index count;
};

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  /// At least 1; worker numbers are below it.
  [[nodiscard]] virtual int worker_count() const = 0;

  /// Runs every task once and returns when all are done.
  virtual void run(const TaskSet& tasks) = 0;
};

}  // namespace heed
