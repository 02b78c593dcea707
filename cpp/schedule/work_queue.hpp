// The work queue: hands out tasks to any number of threads, without locks. The threads are those of thread_pool.hpp or
// worker_pool.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "heed/executor.hpp"
#include "schedule/waiting.hpp"

namespace heed {

/// Workers are numbered, each number once. Each may lead a set of its own by run(), one after
/// the other, and helps with those of others for the rest of the time.
///
/// A task is taken by compare-and-swap of one word that holds the set's generation and how
/// many of its tasks are left. A thread reads what to run before it takes its task, and
/// may by then be reading of another set; but a set that still has a task is unfinished,
/// and what is posted changes only between sets. So whoever succeeds has read of the task's
/// own set, and whoever has not, runs nothing. (A thread that stood still for exactly 2^32
/// sets would be fooled.)
///
/// A set is over when its tasks are done: threads that come late to it, or not at all, are
/// not waited for.
class WorkQueue {
 public:
  static constexpr int kMaxWorkers = waiting::kMaxThreads;

  /// A parked helper wakes badly: for milliseconds after a wake it may be of no help. This bridges the gaps between
  /// calls.
  static constexpr double kHelperSpinMilliseconds = 10.0;

  /// Any generation will do to start with, here of worker 0's sets.
  explicit constexpr WorkQueue(std::uint32_t generation = 0) : sets_{{Set{.word{std::uint64_t{generation} << 32U}}}} {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() = default;

  /// Runs all tasks as worker `leader`, with those workers who help, and returns when they are done. Tasks are told
  /// their worker's place in the set: the leader's is 0, worker 0's is the leader's number, and others' are their own.
  /// Those below `workers` are wanted.
  void run(const TaskSet& tasks, int workers, int leader = 0);

  /// Takes tasks until there are none and `is_over()`, which whoever makes it so tells by wake().
  template <typename Condition>
  void help_until(int worker, double spin_milliseconds, Condition is_over) {
    seat(worker).is_lost.store(false);
    while (has_task_for(worker) || !is_over()) {
      take_tasks(worker);
      waiting::wait_until(seat(worker).asleep, spin_milliseconds, [&] { return has_task_for(worker) || is_over(); });
    }
  }

  void wake(int worker) { waiting::wake_if_asleep(seat(worker).asleep); }

  /// Helps until stop().
  void serve(int worker);

  /// Lets serve() return, now and from now on.
  void stop();

  /// Says that a helping worker is no more. A set that it may have held a task of ends without
  /// that task: whoever calls this knows that the set is not whole.
  void lose(int worker);

  /// Tasks that a worker has run so far, modulo 2^32.
  [[nodiscard]] std::uint32_t tasks_done(int worker) const;

 private:
  /// The state of a worker, in a cache line of its own.
  struct alignas(64) Seat {
    waiting::Word asleep{0};
    waiting::Atomic<int> may_hold_task_of{0};  // a leader's number, plus 1
    waiting::Atomic<bool> is_lost{false};
    waiting::Atomic<std::uint32_t> tasks_done{0};
  };

  /// What is posted is atomic, because a late thread may read it while it changes.
  struct alignas(64) Set {
    waiting::Atomic<std::uint64_t> word{0};  // generation, tasks left
    waiting::Atomic<std::uint32_t> unfinished{0};
    waiting::Atomic<std::uint32_t> count{0};
    waiting::Atomic<decltype(TaskSet::run)> run{nullptr};
    waiting::Atomic<void*> context{nullptr};
    waiting::Atomic<const StopFlag*> stop{nullptr};
    waiting::Atomic<int> workers{0};
  };

  [[nodiscard]] Seat& seat(int worker) { return seats_[static_cast<std::size_t>(worker)]; }
  [[nodiscard]] const Set& set_of(int leader) const { return sets_[static_cast<std::size_t>(leader)]; }
  [[nodiscard]] Set& set_of(int leader) { return sets_[static_cast<std::size_t>(leader)]; }
  void post(const TaskSet& tasks, int workers, int leader);
  [[nodiscard]] static bool take_task(Set& set, int place, TaskSet& tasks, Index& task);
  void take_tasks_of(int leader, int worker);
  void take_tasks(int worker);
  [[nodiscard]] bool has_task_for(int worker) const;
  [[nodiscard]] bool is_over(int leader) const;
  void wake_all();

  waiting::Atomic<bool> is_stopping_{false};
  waiting::Atomic<bool> has_lost_workers_{false};
  waiting::Atomic<int> leaders_{1};  // those who ever led have lower numbers

  std::array<Set, kMaxWorkers> sets_;  // each worker's, when it leads
  std::array<Seat, kMaxWorkers> seats_;
};

}  // namespace heed
