// The full module: attention and every other operation, on one memory.
#include "bindings/call_header.hpp"
#include "bindings/run_call.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  switch (static_cast<Operation>(reinterpret_cast<const CallHeader*>(address)->operation)) {
    case Operation::attention:
      return run_attention(address, executor);
    case Operation::rope:
    case Operation::linear_attention:
      return run_extra(address, executor);
    case Operation::program:
      return run_program(address, executor);
    default:
      return run_layer(address, executor);
  }
}
