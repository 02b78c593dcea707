// Runs the tasks one after the other on the calling thread.
#pragma once

#include "heed/executor.hpp"

namespace heed {

class SerialExecutor final : public Executor {
 public:
  [[nodiscard]] int worker_count() const override { return 1; }

  void run(const TaskSet& tasks) override {
    for (Index task = 0; task < tasks.count; ++task) tasks.run(tasks.context, task, 0);
  }
};

}  // namespace heed
