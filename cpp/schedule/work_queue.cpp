#include "schedule/work_queue.hpp"

#include <algorithm>
#include <limits>

#include "schedule/serial_executor.hpp"

namespace heed {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// The caller waits for no more than the helpers' last tasks. Beyond some of those it may be
/// that it holds the core which a helper needs to end them.
constexpr double kCallerSpinMilliseconds = 0.5;

constexpr Index kMaxTasks = std::numeric_limits<std::uint32_t>::max();

std::uint32_t tasks_left(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

/// A worker's place in the set of a leader, and the other way around: the two change places with each other.
int place_of(int worker, int leader) {
  if (worker == leader) return 0;
  return worker == 0 ? leader : worker;
}

std::uint64_t next_generation(std::uint64_t word, std::uint32_t count) { return (((word >> 32U) + 1) << 32U) | count; }

}  // namespace

void WorkQueue::run(const TaskSet& tasks, int workers, int leader) {
  const auto wanted =
      static_cast<int>(std::min({tasks.count, Index{tasks.workers}, Index{workers}, Index{kMaxWorkers}}));
  if (wanted <= 1 || tasks.count > kMaxTasks) {
    run_alone(tasks);
    return;
  }
  post(tasks, wanted, leader);
  take_tasks_of(leader, leader);
  waiting::wait_until(seat(leader).asleep, kCallerSpinMilliseconds, [&] { return is_over(leader); });
}

void WorkQueue::post(const TaskSet& tasks, int workers, int leader) {
  const auto count = static_cast<std::uint32_t>(tasks.count);
  Set& set = set_of(leader);
  set.run.store(tasks.run, kRelaxed);
  set.context.store(tasks.context, kRelaxed);
  set.count.store(count, kRelaxed);
  set.workers.store(workers, kRelaxed);
  set.stop.store(tasks.stop, kRelaxed);
  set.unfinished.store(count, kRelaxed);
  for (int known = leaders_.load(); known <= leader && !leaders_.compare_exchange_weak(known, leader + 1);) {
  }
  // No tasks are left of the last set, so nobody else changes the word.
  set.word.store(next_generation(set.word.load(kRelaxed), count));
  for (int place = 1; place < workers; ++place) wake(place_of(place, leader));
}

void WorkQueue::serve(int worker) {
  help_until(worker, kHelperSpinMilliseconds, [this] { return is_stopping_.load(); });
}

void WorkQueue::stop() {
  is_stopping_.store(true);
  wake_all();
}

void WorkQueue::lose(int worker) {
  seat(worker).is_lost.store(true);
  has_lost_workers_.store(true);
  wake_all();
}

std::uint32_t WorkQueue::tasks_done(int worker) const {
  return seats_[static_cast<std::size_t>(worker)].tasks_done.load(kRelaxed);
}

void WorkQueue::take_tasks(int worker) {
  for (int leader = 0; leader < leaders_.load(); ++leader) take_tasks_of(leader, worker);
}

void WorkQueue::take_tasks_of(int leader, int worker) {
  const int place = place_of(worker, leader);
  Set& set = set_of(leader);
  TaskSet tasks{};
  Index task = 0;
  seat(worker).may_hold_task_of.store(leader + 1);
  while (take_task(set, place, tasks, task)) {
    if (!tasks.is_stopped()) {
      tasks.run(tasks.context, task, place);
      seat(worker).tasks_done.fetch_add(1, kRelaxed);
    }
    // From here on the leader may be gone, and what the set points to with it.
    if (set.unfinished.fetch_sub(1) == 1) wake(leader);
  }
  seat(worker).may_hold_task_of.store(0);
  if (has_lost_workers_.load()) wake(leader);
}

bool WorkQueue::take_task(Set& set, int place, TaskSet& tasks, Index& task) {
  std::uint64_t word = set.word.load();
  while (tasks_left(word) > 0 && place < set.workers.load(kRelaxed)) {
    tasks = {set.run.load(kRelaxed), set.context.load(kRelaxed), Index{set.count.load(kRelaxed)}};
    tasks.stop = set.stop.load(kRelaxed);
    task = tasks.count - tasks_left(word);
    if (set.word.compare_exchange_weak(word, word - 1)) return true;
  }
  return false;
}

/// When all tasks are done, or only lost workers can hold what is left: in that order, since a
/// worker says that it may hold a task before it takes one.
bool WorkQueue::is_over(int leader) const {
  const Set& set = set_of(leader);
  if (set.unfinished.load() == 0) return true;
  if (!has_lost_workers_.load() || tasks_left(set.word.load()) > 0) return false;
  return std::ranges::none_of(
      seats_, [&](const Seat& one) { return one.may_hold_task_of.load() == leader + 1 && !one.is_lost.load(); });
}

bool WorkQueue::has_task_for(int worker) const {
  for (int leader = 0; leader < leaders_.load(); ++leader) {
    const Set& set = set_of(leader);
    if (tasks_left(set.word.load()) > 0 && place_of(worker, leader) < set.workers.load(kRelaxed)) return true;
  }
  return false;
}

void WorkQueue::wake_all() {
  for (Seat& one : seats_) waiting::wake_if_asleep(one.asleep);
}

}  // namespace heed
