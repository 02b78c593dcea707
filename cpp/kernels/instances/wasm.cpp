// The kernels for WebAssembly: SIMD, or relaxed SIMD where the target is compiled for it.
#include "kernels/attention_kernels.hpp"

namespace heed::kernels {

#ifdef __wasm_relaxed_simd__
constexpr const char* kName = "wasm-relaxed";
#else
constexpr const char* kName = "wasm-simd";
#endif

extern const AttentionKernels wasm_kernels;
constinit const AttentionKernels wasm_kernels = make_attention_kernels<xsimd::wasm>(kName);

}  // namespace heed::kernels
