// The workers that JavaScript starts on one shared memory, each with an instance of its own:
// functions are the same numbers in all of them, so tasks can be passed around.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "heed/executor.hpp"
#include "heed/status.hpp"
#include "schedule/work_queue.hpp"

namespace heed {

/// The mailbox of a worker, which is handed calls one at a time. JavaScript waits for its state, and reads what follows
/// it.
struct alignas(64) Mailbox {
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kPosted = 1;

  waiting::Word state{kEmpty};
  waiting::Atomic<std::uint32_t> call{0};  // address
  waiting::Atomic<std::int32_t> workers{0};
  waiting::Atomic<std::int32_t> status{0};  // of the last call
  char message[Status::kRoom] = "";         // of its failure
};

/// Workers that each lead calls of their own, and help each other for the rest of the time.
class WorkerPool {
 public:
  using Compute = Status (*)(std::uint32_t call, Executor& executor);

  constexpr WorkerPool() = default;

  /// Hands a worker a call to lead, with those of the others below `workers` that are free. Its mailbox must be empty:
  /// what it was handed before is done.
  void post(int worker, std::uint32_t call, int workers);

  /// Helps the others until there is a call in the mailbox of the worker and nothing to help with, and leads that call.
  void serve_one(int worker, double spin_milliseconds, Compute compute);

  [[nodiscard]] const Mailbox& mailbox(int worker) const { return mailboxes_[static_cast<std::size_t>(worker)]; }
  [[nodiscard]] WorkQueue& queue() { return queue_; }

 private:
  WorkQueue queue_;
  std::array<Mailbox, WorkQueue::kMaxWorkers> mailboxes_;
};

/// The pool of this memory.
WorkerPool& shared_pool();

/// A worker that leads, which may sleep, and the others below `workers`.
class Lead final : public Executor {
 public:
  Lead(WorkQueue& queue, int leader, int workers)
      : queue_(queue), leader_(leader), workers_(std::clamp(workers, 1, WorkQueue::kMaxWorkers)) {}

  [[nodiscard]] int worker_count() const override { return workers_; }
  [[nodiscard]] double work_per_worker() const override { return kWorkPerWorker; }
  void run(const TaskSet& tasks) override { queue_.run(tasks, workers_, leader_); }

 private:
  static constexpr double kWorkPerWorker = 0.5e6;

  WorkQueue& queue_;
  int leader_;
  int workers_;
};

}  // namespace heed
