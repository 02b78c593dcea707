// Runs a packed call where it lies in the heap. Each of the three modules has a run_call() for its operations:
// core_module.cpp, full_module.cpp.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/status.hpp"

namespace heed::bindings {

Status run_call(std::uint32_t address, Executor& executor);

}  // namespace heed::bindings
