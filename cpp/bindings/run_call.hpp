// Runs a packed call where it lies in the heap. Each module has calls of its own, and a run_call() for them.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/status.hpp"

namespace heed::bindings {

/// The status as a number; heed_status_message() has its text.
int run_call(std::uint32_t address, Executor& executor);

/// What run_call() returns for a status, whose text is kept.
int report(const Status& status);

}  // namespace heed::bindings
