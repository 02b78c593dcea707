// The few vector operations that stock xsimd does not give the way the kernels need.
#pragma once

#include <cstdint>
#include <type_traits>
#include <xsimd/xsimd.hpp>

#include "kernels/simd/width.hpp"

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace heed::kernels {

/// The vectors that this build's kernels are compiled for: WebAssembly's, the machine's, or emulated ones.
#if defined(HEED_EMULATED)
using Arch = xsimd::emulated<HEED_EMULATED>;
#else
using Arch = xsimd::default_arch;
#endif

using Batch = xsimd::batch<float, Arch>;
using I32Batch = xsimd::batch<std::int32_t, Arch>;
using U32Batch = xsimd::batch<std::uint32_t, Arch>;
using I16Batch = xsimd::batch<std::int16_t, Arch>;
static_assert(Batch::size == kLanes && I16Batch::size == kPanel);

/// a * b + c, fused where the architecture fuses. xsimd multiplies and adds on
/// WebAssembly even where relaxed SIMD has one instruction for it.
inline Batch multiply_add(Batch a, Batch b, Batch c) {
#ifdef __wasm_relaxed_simd__
  return wasm_f32x4_relaxed_madd(a.data, b.data, c.data);
#else
  return xsimd::fma(a, b, c);
#endif
}

/// When one operand of max or min is NaN, x86 answers with the second, WebAssembly's pmax and
/// pmin and plain C++ with the first.
inline constexpr bool kSecondWins = std::is_base_of_v<xsimd::sse2, Arch> || std::is_base_of_v<xsimd::avx, Arch> ||
                                    std::is_base_of_v<xsimd::avx512f, Arch>;

/// The larger of the two, NaN when `value` is NaN.
inline Batch at_least(Batch value, Batch floor) {
  if constexpr (kSecondWins) {
    return xsimd::max(floor, value);
  } else {
    return xsimd::max(value, floor);
  }
}

/// The smaller of the two, NaN when `value` is NaN.
inline Batch at_most(Batch value, Batch ceiling) {
  if constexpr (kSecondWins) {
    return xsimd::min(ceiling, value);
  } else {
    return xsimd::min(value, ceiling);
  }
}

/// Before a loop, keeps it one, where unrolling would only add to the download.
#ifdef __clang__
#define HEED_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define HEED_KEEP_LOOP
#endif

/// Before a loop of few instructions, unrolls it by eight: V8 looks for interrupts once a turn, in four instructions.
#ifdef __clang__
#define HEED_UNROLL_LOOP _Pragma("clang loop unroll_count(8)")
#else
#define HEED_UNROLL_LOOP
#endif

/// Hides from the optimiser where `pointer` leads. Constants read through it stay in
/// registers: V8 rebuilds every vector literal at each use inside a loop, which slows the
/// exponential (delete that when it hoists v128.const). Vectors stored through it leave registers.
template <typename T>
inline T* opaque(T* pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}

}  // namespace heed::kernels
