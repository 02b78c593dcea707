// Everything that JavaScript can call, of either module: a table. The extern "C" twins serve workers, which run without
// Embind's glue.
#include <emscripten/bind.h>
#include <emscripten/em_macros.h>

#include <cstdint>
#include <cstdlib>

#include "bindings/run_call.hpp"
#include "heed/machine.hpp"

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 31;

/// The status of the last call of heed_run(), which only one of the threads on a memory uses.
heed::Status last_status;

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE int heed_run(std::uint32_t address) {
  last_status = heed::bindings::run_call(address, heed::calling_thread());
  return static_cast<int>(last_status.code());
}

EMSCRIPTEN_KEEPALIVE const char* heed_status_message() { return last_status.message().data(); }

EMSCRIPTEN_KEEPALIVE std::uint32_t heed_allocate(std::uint32_t bytes) {
  const std::uint64_t padded = (std::uint64_t{bytes} / kAlignment + 1) * kAlignment;
  if (padded > kMaxMemory) return 0;  // nor may the allocator add it to an address: see MAXIMUM_MEMORY
  return reinterpret_cast<std::uint32_t>(std::aligned_alloc(kAlignment, static_cast<std::size_t>(padded)));
}

EMSCRIPTEN_KEEPALIVE void heed_release(std::uint32_t address) { std::free(reinterpret_cast<void*>(address)); }

}  // extern "C"

EMSCRIPTEN_BINDINGS(heed) {
  emscripten::function("run", &heed_run);
  emscripten::function("statusMessage", +[] { return reinterpret_cast<std::uint32_t>(heed_status_message()); });
  emscripten::function("allocate", &heed_allocate);
  emscripten::function("release", &heed_release);
}
