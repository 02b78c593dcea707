// Shares the tasks of an operation among workers.
#pragma once

#include "heed/executor.hpp"
#include "plan/choose_workers.hpp"

namespace heed {

/// The number of workers that about so many multiplications pay for.
inline int choose_workers(const Executor& executor, double multiplications) {
  return choose_workers(executor.worker_count(), executor.work_per_worker(), multiplications);
}

/// How many tasks there are, and the workers that are worth waking for them.
struct Tasks {
  Index count;
  int workers;
  const StopFlag* stop = nullptr;  // once set, tasks not yet started are left out
};

/// Calls task(index, worker) for every index below `tasks.count`, and returns when all are done. `worker` tells which
/// scratch memory a task may use.
template <typename Task>
void parallel_for(Executor& executor, const Tasks& tasks, Task task) {
  const auto run = [](void* context, Index index, int worker) { (*static_cast<Task*>(context))(index, worker); };
  executor.run({run, &task, tasks.count, tasks.workers, tasks.stop});
}

}  // namespace heed
