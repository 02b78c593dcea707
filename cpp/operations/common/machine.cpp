#include "heed/machine.hpp"

#include "kernels/simd/width.hpp"
#include "schedule/serial_executor.hpp"

namespace heed {

const char* kernel_name() {
#if defined(__wasm_relaxed_simd__)
  return "wasm-relaxed";
#elif defined(__wasm_simd128__)
  return "wasm-simd";
#elif defined(HEED_EMULATED)
  return "emulated";
#else
  return "native";
#endif
}

int kernel_lanes() { return kernels::kLanes; }

Executor& calling_thread() {
  static SerialExecutor executor;
  return executor;
}

}  // namespace heed
