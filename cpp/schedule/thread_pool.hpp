// Native threads that serve a work queue. WebAssembly has workers of its own: see worker_pool.hpp.
#pragma once

#include <thread>
#include <vector>

#include "heed/executor.hpp"
#include "schedule/work_queue.hpp"

namespace heed {

/// The caller is worker 0 and takes part. run() may be called from one thread at a time.
class ThreadPool final : public Executor {
 public:
  /// At least 1 worker and at most WorkQueue::kMaxWorkers. `work_per_worker`: see Executor.
  explicit ThreadPool(int workers, double work_per_worker = kWorkPerThread);
  ~ThreadPool() override;

  [[nodiscard]] int worker_count() const override { return static_cast<int>(threads_.size()) + 1; }
  [[nodiscard]] double work_per_worker() const override { return work_per_worker_; }
  void run(const TaskSet& tasks) override { queue_.run(tasks, worker_count()); }

  [[nodiscard]] const WorkQueue& queue() const { return queue_; }

 private:
  static constexpr double kWorkPerThread = 0.5e6;

  double work_per_worker_;
  WorkQueue queue_;
  std::vector<std::thread> threads_;
};

}  // namespace heed
