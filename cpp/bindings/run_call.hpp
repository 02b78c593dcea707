// Runs a packed call where it lies in the heap.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"

namespace heed::bindings {

/// The status as a number; heed_status_message() has its text.
int run_call(std::uint32_t address, Executor& executor);

}  // namespace heed::bindings
