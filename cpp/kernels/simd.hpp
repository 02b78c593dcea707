// The few vector operations that stock xsimd does not give the way the kernels need.
#pragma once

#include <type_traits>
#include <xsimd/xsimd.hpp>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace heed::kernels {

template <class Arch>
using Batch = xsimd::batch<float, Arch>;

template <class Arch>
inline constexpr int kLanes = static_cast<int>(Batch<Arch>::size);

/// A panel is two vectors of queries side by side: 6 rows x 2 vectors of sums, two
/// operands and one broadcast fill 15 of the 16 registers of x86 and of wasm engines.
inline constexpr int kPanelVectors = 2;

template <class Arch>
inline constexpr int kPanel = kPanelVectors * kLanes<Arch>;

/// a * b + c, fused where the architecture fuses. xsimd multiplies and adds on
/// WebAssembly even where relaxed SIMD has one instruction for it.
template <class Arch>
inline Batch<Arch> multiply_add(Batch<Arch> a, Batch<Arch> b, Batch<Arch> c) {
#ifdef __wasm_relaxed_simd__
  return wasm_f32x4_relaxed_madd(a.data, b.data, c.data);
#else
  return xsimd::fma(a, b, c);
#endif
}

/// When one operand of max or min is NaN, x86 answers with the second, WebAssembly's pmax and
/// pmin and plain C++ with the first.
template <class Arch>
inline constexpr bool kSecondWins = std::is_base_of_v<xsimd::sse2, Arch> || std::is_base_of_v<xsimd::avx, Arch> ||
                                    std::is_base_of_v<xsimd::avx512f, Arch>;

/// The larger of the two, NaN when `value` is NaN.
template <class Arch>
inline Batch<Arch> at_least(Batch<Arch> value, Batch<Arch> floor) {
  if constexpr (kSecondWins<Arch>) {
    return xsimd::max(floor, value);
  } else {
    return xsimd::max(value, floor);
  }
}

/// The smaller of the two, NaN when `value` is NaN.
template <class Arch>
inline Batch<Arch> at_most(Batch<Arch> value, Batch<Arch> ceiling) {
  if constexpr (kSecondWins<Arch>) {
    return xsimd::min(ceiling, value);
  } else {
    return xsimd::min(value, ceiling);
  }
}

/// Before a loop: it stays one, where unrolling would only add to the download.
#ifdef __clang__
#define HEED_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define HEED_KEEP_LOOP
#endif

/// Hides from the optimiser where `pointer` leads. Constants read through it stay in
/// registers: V8 rebuilds every vector literal at each use inside a loop, which slows the
/// exponential (delete that when it hoists v128.const). Numbers stored through it leave them.
template <typename T>
inline T* opaque(T* pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}

}  // namespace heed::kernels
