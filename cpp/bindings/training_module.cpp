// The training module: what the full one has, backward passes, losses and steps of optimizers.
#include "bindings/run_one_of.hpp"
#include "bindings/training_operations.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  constexpr const Joined<Operations, std::tuple<ProgramCall>, TrainingOperations>* kCalls = nullptr;
  return run_one_of(kCalls, address, executor);
}
