#include "schedule/thread_pool.hpp"

namespace heed {

ThreadPool::ThreadPool(int workers) {
  for (int worker = 1; worker < workers; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  work_arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(const TaskSet& tasks) {
  {
    const std::lock_guard lock(mutex_);
    tasks_ = tasks;
    next_task_ = 0;
    busy_ = static_cast<int>(threads_.size());
    ++generation_;
  }
  work_arrived_.notify_all();
  take_tasks(tasks, 0);
  std::unique_lock lock(mutex_);
  work_finished_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::serve(int worker) {
  std::uint64_t served = 0;
  while (true) {
    std::unique_lock lock(mutex_);
    work_arrived_.wait(lock, [this, served] { return is_stopping_ || generation_ != served; });
    if (is_stopping_) return;
    served = generation_;
    const TaskSet tasks = tasks_;
    lock.unlock();

    take_tasks(tasks, worker);

    lock.lock();
    if (--busy_ == 0) work_finished_.notify_one();
  }
}

void ThreadPool::take_tasks(const TaskSet& tasks, int worker) {
  while (true) {
    const Index task = next_task_.fetch_add(1, std::memory_order_relaxed);
    if (task >= tasks.count) return;
    tasks.run(tasks.context, task, worker);
  }
}

}  // namespace heed
