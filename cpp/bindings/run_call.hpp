// Runs a packed call where it lies in the heap. Each of the two modules has a run_call() for its operations:
// core_module.cpp, full_module.cpp.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/status.hpp"

namespace heed::bindings {

Status run_call(std::uint32_t address, Executor& executor);

/// The calls of one kind: see run_attention.cpp, run_extra.cpp, run_layers.cpp, run_program.cpp.
Status run_attention(std::uint32_t address, Executor& executor);
Status run_extra(std::uint32_t address, Executor& executor);
Status run_layer(std::uint32_t address, Executor& executor);
Status run_program(std::uint32_t address, Executor& executor);

}  // namespace heed::bindings
