// The workers that JavaScript starts on one shared memory, each with an instance of its own:
// functions are the same numbers in all of them, so tasks can be passed around.
#pragma once

#include <algorithm>

#include "heed/executor.hpp"
#include "schedule/task_board.hpp"

namespace heed {

/// The board of this memory: there is one memory, and one caller at a time.
TaskBoard& shared_board();

/// Those of shared_board()'s workers below `workers`, and the caller, which may sleep.
class WorkerPool final : public Executor {
 public:
  explicit WorkerPool(int workers) : workers_(std::clamp(workers, 1, TaskBoard::kMaxWorkers)) {}

  [[nodiscard]] int worker_count() const override { return workers_; }
  [[nodiscard]] double work_per_worker() const override { return kWorkPerWorker; }
  void run(const TaskSet& tasks) override { shared_board().run(tasks, workers_); }

 private:
  static constexpr double kWorkPerWorker = 0.5e6;

  int workers_;
};

}  // namespace heed
