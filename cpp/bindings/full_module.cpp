// The full module: attention and every other operation but those of training, on one memory.
#include "bindings/run_one_of.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  constexpr const Joined<Operations, std::tuple<ProgramCall>>* kCalls = nullptr;
  return run_one_of(kCalls, address, executor);
}
