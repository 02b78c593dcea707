#include "schedule/task_board.hpp"

#include <algorithm>
#include <limits>

#include "schedule/serial_executor.hpp"

namespace heed {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
/// A parked helper wakes badly: for milliseconds after a wake it may be of no help. This
/// bridges the gaps between calls.
constexpr double kHelperSpinMilliseconds = 10.0;

/// The caller waits for no more than the helpers' last tasks. Beyond some of those it may be
/// that it holds the core which a helper needs to end them.
constexpr double kCallerSpinMilliseconds = 0.5;

constexpr Index kMaxTickets = std::numeric_limits<std::uint32_t>::max();

std::uint32_t tickets_left(std::uint64_t tickets) { return static_cast<std::uint32_t>(tickets); }

std::uint64_t next_generation(std::uint64_t tickets, std::uint32_t count) {
  return (((tickets >> 32U) + 1) << 32U) | count;
}

}  // namespace

void TaskBoard::run(const TaskSet& tasks, int workers) {
  const auto wanted =
      static_cast<int>(std::min({tasks.count, Index{tasks.workers}, Index{workers}, Index{kMaxWorkers}}));
  if (wanted <= 1 || tasks.count > kMaxTickets) {
    run_alone(tasks);
    return;
  }
  post(tasks, wanted);
  take_tasks(0);
  waiting::wait_until(seat(0).asleep, kCallerSpinMilliseconds, [this] { return is_over(); });
}

void TaskBoard::post(const TaskSet& tasks, int workers) {
  const auto count = static_cast<std::uint32_t>(tasks.count);
  run_.store(tasks.run, kRelaxed);
  context_.store(tasks.context, kRelaxed);
  count_.store(count, kRelaxed);
  workers_.store(workers, kRelaxed);
  stop_.store(tasks.stop, kRelaxed);
  unfinished_.store(count, kRelaxed);
  // No tickets are left of the last set, so nobody else changes the word.
  tickets_.store(next_generation(tickets_.load(kRelaxed), count));
  for (int worker = 1; worker < workers; ++worker) waiting::wake_if_asleep(seat(worker).asleep);
}

void TaskBoard::serve(int worker) {
  seat(worker).is_lost.store(false);
  while (!is_stopping_.load()) {
    take_tasks(worker);
    waiting::wait_until(seat(worker).asleep, kHelperSpinMilliseconds,
                        [this, worker] { return is_stopping_.load() || has_ticket_for(worker); });
  }
}

void TaskBoard::stop() {
  is_stopping_.store(true);
  for (Seat& one : seats_) waiting::wake_if_asleep(one.asleep);
}

void TaskBoard::lose(int worker) {
  seat(worker).is_lost.store(true);
  has_lost_workers_.store(true);
  waiting::wake_if_asleep(seat(0).asleep);
}

std::uint32_t TaskBoard::tasks_done(int worker) const {
  return seats_[static_cast<std::size_t>(worker)].tasks_done.load(kRelaxed);
}

void TaskBoard::take_tasks(int worker) {
  TaskSet tasks{};
  Index task = 0;
  seat(worker).may_hold_ticket.store(true);
  while (take_ticket(worker, tasks, task)) {
    if (!tasks.is_stopped()) {
      tasks.run(tasks.context, task, worker);
      seat(worker).tasks_done.fetch_add(1, kRelaxed);
    }
    // From here on the caller may be gone, and what the set points to with it.
    if (unfinished_.fetch_sub(1) == 1) waiting::wake_if_asleep(seat(0).asleep);
  }
  seat(worker).may_hold_ticket.store(false);
  if (has_lost_workers_.load()) waiting::wake_if_asleep(seat(0).asleep);
}

bool TaskBoard::take_ticket(int worker, TaskSet& tasks, Index& task) {
  std::uint64_t tickets = tickets_.load();
  while (tickets_left(tickets) > 0 && worker < workers_.load(kRelaxed)) {
    tasks = {run_.load(kRelaxed), context_.load(kRelaxed), Index{count_.load(kRelaxed)}};
    tasks.stop = stop_.load(kRelaxed);
    task = tasks.count - tickets_left(tickets);
    if (tickets_.compare_exchange_weak(tickets, tickets - 1)) return true;
  }
  return false;
}

/// When all tasks are done, or only lost workers can hold what is left: in that order, since a
/// worker says that it may hold a ticket before it takes one.
bool TaskBoard::is_over() const {
  if (unfinished_.load() == 0) return true;
  if (!has_lost_workers_.load() || tickets_left(tickets_.load()) > 0) return false;
  return std::ranges::none_of(seats_,
                              [](const Seat& one) { return one.may_hold_ticket.load() && !one.is_lost.load(); });
}

bool TaskBoard::has_ticket_for(int worker) const {
  return tickets_left(tickets_.load()) > 0 && worker < workers_.load(kRelaxed);
}

}  // namespace heed
