#include "schedule/worker_pool.hpp"

namespace heed {

void WorkerPool::post(int worker, std::uint32_t call, int workers) {
  Door& door = doors_[static_cast<std::size_t>(worker)];
  door.call.store(call);
  door.workers.store(workers);
  door.state.store(Door::kPosted);
  board_.wake(worker);
}

void WorkerPool::serve_one(int worker, double spin_milliseconds, Compute compute) {
  Door& door = doors_[static_cast<std::size_t>(worker)];
  board_.help_until(worker, spin_milliseconds, [&] { return door.state.load() == Door::kPosted; });
  Lead lead(board_, worker, door.workers.load());
  const Status status = compute(door.call.load(), lead);
  door.message[status.message().copy(door.message, sizeof(door.message) - 1)] = '\0';
  door.status.store(static_cast<std::int32_t>(status.code()));
  door.state.store(Door::kEmpty);
  waiting::wake(door.state);
}

WorkerPool& shared_pool() {
  // In memory that is zero from the start: workers run no constructors.
  static constinit WorkerPool pool;
  return pool;
}

}  // namespace heed
