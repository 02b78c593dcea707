// The module of what is beside attention.
#include "bindings/run_call.hpp"

int heed::bindings::run_call(std::uint32_t address, Executor& executor) { return report(run_extra(address, executor)); }
