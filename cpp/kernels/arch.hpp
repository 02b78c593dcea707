// The vectors that this build's kernels are compiled for: WebAssembly's, those that the compiler was told the machine
// has, or, to test other widths, emulated ones.
#pragma once

#include <xsimd/xsimd.hpp>

namespace heed::kernels {

#if defined(HEED_EMULATED)
using BuiltArch = xsimd::emulated<HEED_EMULATED>;
#else
using BuiltArch = xsimd::default_arch;
#endif

/// The name that benches and tests print.
#if defined(__wasm_relaxed_simd__)
inline constexpr const char* kArchName = "wasm-relaxed";
#elif defined(__wasm_simd128__)
inline constexpr const char* kArchName = "wasm-simd";
#else
inline constexpr const char* kArchName = BuiltArch::name();
#endif

}  // namespace heed::kernels
