// Runs the tasks one after the other on the calling thread.
#pragma once

#include "heed/executor.hpp"

namespace heed {

inline void run_alone(const TaskSet& tasks) {
  for (Index task = 0; task < tasks.count && !tasks.is_stopped(); ++task) tasks.run(tasks.context, task, 0);
}

class SerialExecutor final : public Executor {
 public:
  [[nodiscard]] int worker_count() const override { return 1; }
  void run(const TaskSet& tasks) override { run_alone(tasks); }
};

}  // namespace heed
