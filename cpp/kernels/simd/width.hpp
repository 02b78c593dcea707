// How wide the vectors are that this build's kernels are compiled for, for those who need know no more of them.
#pragma once

#include <cstddef>

namespace heed::kernels {

/// Floats of a vector.
#if defined(HEED_EMULATED)
inline constexpr int kLanes = HEED_EMULATED / 32;
#elif defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif

/// Whether a multiplication and an addition are one instruction.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr bool kFusesMultiplyAdd = false;
#else
inline constexpr bool kFusesMultiplyAdd = true;
#endif

/// A panel is two vectors of queries side by side: 6 rows x 2 vectors of sums, two
/// operands and one broadcast fill 15 of the 16 registers of x86 and of wasm engines.
inline constexpr int kPanelVectors = 2;
inline constexpr int kPanel = kPanelVectors * kLanes;

/// Up to so many rows of a group are attended by the decode kernel.
inline constexpr int kShortRows = kPanel / 2;

/// The alignment of scratch memory, in bytes: a cache line, and the longest vector.
inline constexpr std::size_t kScratchAlignment = 64;

}  // namespace heed::kernels
