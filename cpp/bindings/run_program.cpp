// Runs the calls of a program in order, up to the first that fails.
#include "bindings/program_call.hpp"
#include "bindings/run_call.hpp"

heed::Status heed::bindings::run_program(std::uint32_t address, Executor& executor) {
  CallList& list = *reinterpret_cast<CallList*>(reinterpret_cast<const ProgramCall*>(address)->list);
  for (std::uint32_t at = 0;; ++at) {
    std::uint32_t appended = at;
    if (list.appended.compare_exchange_strong(appended, at | CallList::kClosed)) return {};
    const Status status = run_call(list.calls[at], executor);
    if (status.is_ok()) continue;
    list.appended.fetch_or(CallList::kClosed);
    return status;
  }
}
