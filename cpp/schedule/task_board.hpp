// Hands out the tasks of one set after the other to any number of threads, without locks.
// Whose threads they are is not its business: see thread_pool.hpp and worker_pool.hpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "heed/executor.hpp"
#include "schedule/waiting.hpp"

namespace heed {

/// One thread at a time posts sets by run(), as worker 0. Others serve as workers 1, 2, ...,
/// each number once.
///
/// A ticket is taken by compare-and-swap of one word that holds the set's generation and how
/// many of its tickets are left. A thread reads what to run before it takes its ticket, and
/// may by then be reading of another set; but a set that still has a ticket is unfinished,
/// and what is posted changes only between sets. So whoever succeeds has read of the ticket's
/// own set, and whoever has not, runs nothing. (A thread that stood still for exactly 2^32
/// sets would be fooled.)
///
/// A set is over when its tasks are done: threads that come late to it, or not at all, are
/// not waited for.
class TaskBoard {
 public:
  static constexpr int kMaxWorkers = 64;

  /// Any generation will do to start with.
  explicit constexpr TaskBoard(std::uint32_t generation = 0) : tickets_(std::uint64_t{generation} << 32U) {}
  TaskBoard(const TaskBoard&) = delete;
  TaskBoard& operator=(const TaskBoard&) = delete;
  ~TaskBoard() = default;

  /// Runs all tasks, with those workers below `workers` who serve, and returns when they are done.
  void run(const TaskSet& tasks, int workers);

  /// Takes tasks until stop().
  void serve(int worker);

  /// Lets serve() return, now and from now on.
  void stop();

  /// Says that a serving worker is no more. A set that it may have held a task of ends without
  /// that task: whoever calls this knows that the set is not whole.
  void lose(int worker);

  /// Tasks that a worker has run so far, modulo 2^32.
  [[nodiscard]] std::uint32_t tasks_done(int worker) const;

 private:
  /// A worker's own cache line.
  struct alignas(64) Seat {
    waiting::Word asleep{0};
    std::atomic<bool> may_hold_ticket{false};
    std::atomic<bool> is_lost{false};
    std::atomic<std::uint32_t> tasks_done{0};
  };

  [[nodiscard]] Seat& seat(int worker) { return seats_[static_cast<std::size_t>(worker)]; }
  void post(const TaskSet& tasks, int workers);
  [[nodiscard]] bool take_ticket(int worker, TaskSet& tasks, Index& task);
  void take_tasks(int worker);
  [[nodiscard]] bool has_ticket_for(int worker) const;
  [[nodiscard]] bool is_over() const;

  alignas(64) std::atomic<std::uint64_t> tickets_;  // generation, tickets left
  alignas(64) std::atomic<std::uint32_t> unfinished_{0};
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_lost_workers_{false};

  // What is posted. Atomic, because a late thread may read it while it changes.
  std::atomic<decltype(TaskSet::run)> run_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<std::uint32_t> count_{0};
  std::atomic<int> workers_{0};
  std::atomic<const StopFlag*> stop_{nullptr};

  std::array<Seat, kMaxWorkers> seats_;
};

}  // namespace heed
