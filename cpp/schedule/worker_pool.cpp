#include "schedule/worker_pool.hpp"

namespace heed {

void WorkerPool::post(int worker, std::uint32_t call, int workers) {
  Mailbox& mailbox = mailboxes_[static_cast<std::size_t>(worker)];
  mailbox.call.store(call);
  mailbox.workers.store(workers);
  mailbox.state.store(Mailbox::kPosted);
  queue_.wake(worker);
}

void WorkerPool::serve_one(int worker, double spin_milliseconds, Compute compute) {
  Mailbox& mailbox = mailboxes_[static_cast<std::size_t>(worker)];
  queue_.help_until(worker, spin_milliseconds, [&] { return mailbox.state.load() == Mailbox::kPosted; });
  Lead lead(queue_, worker, mailbox.workers.load());
  const Status status = compute(mailbox.call.load(), lead);
  mailbox.message[status.message().copy(mailbox.message, sizeof(mailbox.message) - 1)] = '\0';
  mailbox.status.store(static_cast<std::int32_t>(status.code()));
  mailbox.state.store(Mailbox::kEmpty);
  waiting::wake(mailbox.state);
}

WorkerPool& shared_pool() {
  // In memory that is zero from the start: workers run no constructors.
  static constinit WorkerPool pool;
  return pool;
}

}  // namespace heed
