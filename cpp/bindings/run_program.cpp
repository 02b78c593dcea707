// Runs the calls of a program in order, up to the first that fails.
#include "bindings/program_call.hpp"
#include "bindings/run_call.hpp"

heed::Status heed::run(const ProgramCall& call, Executor& executor) {
  CallList& list = *pointer<CallList>(call.list);
  for (std::uint32_t at = 0;; ++at) {
    std::uint32_t appended = at;
    if (list.appended.compare_exchange_strong(appended, at | CallList::kClosed)) return {};
    const Status status = bindings::run_call(list.calls[at], executor);
    if (status.is_ok()) continue;
    list.appended.fetch_or(CallList::kClosed);
    return status;
  }
}
