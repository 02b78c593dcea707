// The core module: attention and the writer of its caches, which is all that most pages load.
#include "bindings/run_call.hpp"
#include "operations/append.hpp"
#include "operations/attention/attention_call.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  // The first two of bindings/operations.hpp.
  if (pointer<const CallHeader>(address)->operation == 0) return run(*pointer<const AttentionCall>(address), executor);
  return run(*pointer<const AppendCall>(address), executor);
}
