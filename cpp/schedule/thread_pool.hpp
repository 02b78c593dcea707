// Native threads that take tasks from a shared counter. WebAssembly has workers of
// its own: see web/src/backends/wasm.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "heed/executor.hpp"

namespace heed {

/// The caller is worker 0 and takes part. run() may be called from one thread at a time.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int workers);
  ~ThreadPool() override;

  [[nodiscard]] int worker_count() const override { return static_cast<int>(threads_.size()) + 1; }
  void run(const TaskSet& tasks) override;

 private:
  void serve(int worker);
  void take_tasks(const TaskSet& tasks, int worker);

  std::mutex mutex_;
  std::condition_variable work_arrived_;
  std::condition_variable work_finished_;
  TaskSet tasks_{};
  std::uint64_t generation_ = 0;  // counts calls of run()
  int busy_ = 0;                  // workers that have not left the current tasks
  bool is_stopping_ = false;
  std::atomic<Index> next_task_{0};
  std::vector<std::thread> threads_;
};

}  // namespace heed
