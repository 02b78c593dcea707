// The module of the operations beside attention.
#include "bindings/run_call.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  return run_extra(address, executor);
}
