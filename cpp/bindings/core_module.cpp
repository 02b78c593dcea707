// The core module: attention alone, which is all that most pages load.
#include <emscripten/bind.h>

#include "bindings/run_call.hpp"
#include "heed/machine.hpp"
#include "operations/attention/attention_call.hpp"

heed::Status heed::bindings::run_call(std::uint32_t address, Executor& executor) {
  return run(*pointer<const AttentionCall>(address), executor);
}

EMSCRIPTEN_BINDINGS(heed_attention) {
  emscripten::function("lanes", +[] { return heed::kernel_lanes(); });
}
