// Between rows in memory and rows in lanes: packs queries, masks and biases into panels, and takes scores and outputs
// out of them.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/simd/batch.hpp"

namespace heed::kernels {

/// load_some() and store_some() where `count` is less than a vector. They are functions of their own: there are many
/// callers, which seldom get here.
[[gnu::noinline]] inline Batch load_tail(const float* source, int count) {
#ifdef __wasm_simd128__
  // memory.copy of a few bytes is a call of the engine's.
  const v128_t first = count > 1 ? wasm_v128_load64_zero(source) : wasm_v128_load32_zero(source);
  return count > 2 ? wasm_v128_load32_lane(source + 2, first, 2) : first;
#else
  alignas(kScratchAlignment) float numbers[kLanes] = {};
  std::memcpy(numbers, source, static_cast<std::size_t>(count) * sizeof(float));
  return Batch::load_aligned(numbers);
#endif
}

[[gnu::noinline]] inline void store_tail(Batch batch, float* target, int count) {
#ifdef __wasm_simd128__
  if (count == 1) return wasm_v128_store32_lane(target, batch, 0);
  wasm_v128_store64_lane(target, batch, 0);
  if (count > 2) wasm_v128_store32_lane(target + 2, batch, 2);
#else
  alignas(kScratchAlignment) float numbers[kLanes];
  batch.store_aligned(numbers);
  std::memcpy(target, numbers, static_cast<std::size_t>(count) * sizeof(float));
#endif
}

/// Loads `count` (at most a vector) numbers from `source`; the other lanes are zero.
inline Batch load_some(const float* source, int count) {
  return count == kLanes ? Batch::load_unaligned(source) : load_tail(source, count);
}

inline void store_some(Batch batch, float* target, int count) {
  if (count == kLanes) {
    batch.store_unaligned(target);
  } else {
    store_tail(batch, target, count);
  }
}

/// Numbers with even and with odd indices.
struct EvenOdd {
  Batch even, odd;
};

/// Stores a panel of numbers in their order.
[[gnu::always_inline]] inline void interleave(const EvenOdd& numbers, float* target) {
  xsimd::zip_lo(numbers.even, numbers.odd).store_unaligned(target);
  xsimd::zip_hi(numbers.even, numbers.odd).store_unaligned(target + kLanes);
}

/// Loads a panel of numbers.
inline EvenOdd deinterleave(const float* source) {
#ifdef __wasm_simd128__
  const v128_t first = wasm_v128_load(source);
  const v128_t second = wasm_v128_load(source + 4);
  return {wasm_i32x4_shuffle(first, second, 0, 2, 4, 6), wasm_i32x4_shuffle(first, second, 1, 3, 5, 7)};
#else
  alignas(kScratchAlignment) float numbers[2][kLanes];
  for (int i = 0; i < kPanel; ++i) numbers[i % 2][i / 2] = source[i];
  return {Batch::load_aligned(numbers[0]), Batch::load_aligned(numbers[1])};
#endif
}

/// panel[i][lane] = load(lane, i): `load(lane, i, count)` gives a vector of the numbers of a row from i on. Fills one
/// vector of a panel of `stride` floats a line.
template <class Load>
inline void rows_to_lanes(int length, float* panel, std::ptrdiff_t stride, Load load) {
  constexpr int lanes = kLanes;
  for (int i = 0; i < length; i += lanes) {
    const int count = length - i < lanes ? length - i : lanes;
    Batch square[lanes];
    for (int lane = 0; lane < lanes; ++lane) square[lane] = load(lane, i, count);
    xsimd::transpose(square, square + lanes);
    for (int line = 0; line < count; ++line) square[line].store_aligned(panel + (i + line) * stride);
  }
}

/// The inverse, times a factor for each lane: `store(lane, i, vector, count)` receives the numbers of each row from i
/// on.
template <class Store>
inline void lanes_to_rows(int length, const float* panel, std::ptrdiff_t stride, Batch factor, Store store) {
  constexpr int lanes = kLanes;
  for (int i = 0; i < length; i += lanes) {
    const int count = length - i < lanes ? length - i : lanes;
    Batch square[lanes];
    for (int line = 0; line < lanes; ++line) {
      square[line] = Batch::load_aligned(panel + (i + (line < count ? line : 0)) * stride) * factor;
    }
    xsimd::transpose(square, square + lanes);
    for (int lane = 0; lane < lanes; ++lane) store(lane, i, square[lane], count);
  }
}

/// Transposes 8 rows of 8 numbers of 16 bits, which lie at any address. Strides are bytes.
inline void transpose_words(const std::uint8_t* source, std::ptrdiff_t source_stride, std::uint8_t* target,
                            std::ptrdiff_t target_stride) {
#ifdef __wasm_simd128__
  v128_t rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = wasm_v128_load(source + i * source_stride);
  // Each pass interleaves rows that are half of all apart.
  for (int pass = 0; pass < 3; ++pass) {
    v128_t next[8];
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = wasm_i16x8_shuffle(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = wasm_i16x8_shuffle(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < 8; ++i) wasm_v128_store(target + i * target_stride, rows[i]);
#else
  for (int row = 0; row < 8; ++row) {
    for (int i = 0; i < 8; ++i) {
      std::memcpy(target + i * target_stride + row * 2, source + row * source_stride + i * 2, 2);
    }
  }
#endif
}

/// Where the row of each lane goes; null: nowhere.
struct RowTargets {
  float* of[kLanes] = {};

  void operator()(int lane, int i, Batch numbers, int count) const {
    if (of[lane]) store_some(numbers, of[lane] + i, count);
  }
};

/// Writes lines of a panel into those rows.
[[gnu::noinline]] inline void lanes_to_targets(int length, const float* panel, Batch factor,
                                               const RowTargets& targets) {
  lanes_to_rows(length, panel, kPanel, factor, targets);
}

}  // namespace heed::kernels
