// Runs a packed call where it lies in the heap. Each module has calls of its own, and a run_call() for them: in
// attention_module.cpp, extra_module.cpp, layers_module.cpp.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"
#include "heed/status.hpp"

namespace heed::bindings {

/// The status as a number; heed_status_message() has its text.
int run_call(std::uint32_t address, Executor& executor);

/// Those of one kind: run_attention.cpp, run_extra.cpp, run_layers.cpp.
Status run_attention(std::uint32_t address, Executor& executor);
Status run_extra(std::uint32_t address, Executor& executor);
Status run_layer(std::uint32_t address, Executor& executor);

/// What run_call() returns for a status, whose text is kept.
int report(const Status& status);

}  // namespace heed::bindings
