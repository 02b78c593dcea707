// The narrow module: what the training one has, and layers with stored weights.
#include "bindings/narrow_operations.hpp"
#include "bindings/run_one_of.hpp"
#include "bindings/training_operations.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  constexpr const Joined<Operations, std::tuple<ProgramCall>, TrainingOperations, NarrowOperations>* kCalls = nullptr;
  return run_one_of(kCalls, address, executor);
}
