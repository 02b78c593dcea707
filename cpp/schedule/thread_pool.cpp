#include "schedule/thread_pool.hpp"

#include <algorithm>

namespace heed {

ThreadPool::ThreadPool(int workers, double work_per_worker) : work_per_worker_(work_per_worker) {
  for (int worker = 1; worker < std::min(workers, WorkQueue::kMaxWorkers); ++worker) {
    threads_.emplace_back([this, worker] { queue_.serve(worker); });
  }
}

ThreadPool::~ThreadPool() {
  queue_.stop();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace heed
