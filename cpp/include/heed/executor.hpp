// Who runs the tasks of an operation. The implementations live in schedule/.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "heed/tensor_view.hpp"

namespace heed {

/// Any thread may set this to anything but 0, to end the work that reads it early.
using StopFlag = std::atomic<std::uint32_t>;

/// Says whether the flag is set; null is never set.
inline bool is_set(const StopFlag* flag) { return flag != nullptr && flag->load(std::memory_order_relaxed) != 0; }

/// Numbered tasks that may run in any order and at the same time, and are started in the order of their numbers.
/// `worker` tells a task which scratch memory it may use.
struct TaskSet {
  void (*run)(void* context, Index task, int worker);
  void* context;
  Index count;
  int workers = std::numeric_limits<int>::max();  // more than these, the caller included, are not worth waking
  const StopFlag* stop = nullptr;                 // once set, tasks not yet started are left out

  [[nodiscard]] bool is_stopped() const { return is_set(stop); }
};

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  /// At least 1; worker numbers are below it.
  [[nodiscard]] virtual int worker_count() const = 0;

  /// The multiplications that pay for waking one more worker.
  [[nodiscard]] virtual double work_per_worker() const { return 0.0; }

  /// Runs every task once and returns when all are done.
  virtual void run(const TaskSet& tasks) = 0;
};

}  // namespace heed
