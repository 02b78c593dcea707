// The two products of attention for a row whose keys, or values, are bytes with a scale each. Such a row waits for
// memory, unless it widens what it reads: keys meet the query as whole numbers, and so do values their weights.
//
// In WebAssembly numbers are taken by whole sixteens: up to fifteen bytes behind a line are read, and stand for
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/half.hpp"
#include "kernels/row_products.hpp"

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace heed::kernels {

/// A query in whole numbers: words * unit is within half a unit of it.
struct WordQuery {
  const std::int16_t* words;
  float unit;
};

/// Lines of values whose weights have one unit.
inline constexpr int kUnitLines = 32;

/// The largest word, by which no sum of products with bytes, 127 at most, leaves 32 bits: 15 bits up to 516 numbers,
/// fewer beyond.
constexpr int largest_word(int dim) {
  constexpr int all = std::numeric_limits<std::int32_t>::max() / 127;
  constexpr int word = std::numeric_limits<std::int16_t>::max();
  return all / dim < word ? all / dim : word;
}

#ifdef __wasm_simd128__
/// Numbers as words * unit, in whole eights; `words` may be where the numbers are. Gives the unit, which is NaN if one
/// of them is not finite. Where none is beyond 1e-34 words are zeros.
[[gnu::noinline]] static inline float round_to_words(const float* numbers, int count, int largest_word,
                                                     std::int16_t* words) {
  const float largest = largest_size(numbers, count);
  const auto most = static_cast<float>(largest_word);
  const v128_t inverse = wasm_f32x4_splat(most / largest);
  // So large that the last bits of a sum are a whole number; those of NaN, which is 0 / 0, are zeros.
  const v128_t whole = wasm_f32x4_const_splat(0x1.8p23F);
  const auto round = [=](const float* four) {
    return wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(four), inverse), whole);
  };
  for (int i = 0; i < count; i += 8) {
    const v128_t first = round(numbers + i);
    wasm_v128_store(words + i, wasm_i16x8_shuffle(first, round(numbers + i + 4), 0, 2, 4, 6, 8, 10, 12, 14));
  }
  return largest <= std::numeric_limits<float>::max() ? largest / most : std::numeric_limits<float>::quiet_NaN();
}
#else
[[gnu::noinline]] static inline float round_to_words(const float* numbers, int count, int largest_word,
                                                     std::int16_t* words) {
  float largest = 0.0F;
  for (int i = 0; i < count; ++i) {
    const float size = numbers[i] < 0.0F ? -numbers[i] : numbers[i];
    if (!(size <= largest)) largest = size;
  }
  const auto most = static_cast<float>(largest_word);
  const float inverse = most / largest;
  // Zero, or so small that one of the two is not a number to multiply with.
  const bool is_usable = largest <= std::numeric_limits<float>::max() && inverse <= std::numeric_limits<float>::max();
  for (int i = 0; i < count; ++i) {
    words[i] = is_usable ? static_cast<std::int16_t>(__builtin_rintf(numbers[i] * inverse)) : std::int16_t{0};
  }
  return largest <= std::numeric_limits<float>::max() ? largest / most : std::numeric_limits<float>::quiet_NaN();
}
#endif

#ifdef __wasm_simd128__
/// Turns a query, with zeros up to a whole vector, into words where it lies, and gives their unit. One that is not
/// finite has a unit that is NaN, as all its scores then are.
inline float make_words(float* query, int dim) {
  auto* const words = reinterpret_cast<std::int16_t*>(query);
  const float unit = round_to_words(query, dim, largest_word(dim), words);
  for (int d = (dim + 3) / 4 * 4; d % 16 != 0; ++d) words[d] = 0;
  return unit;
}

/// Dot products of two keys with a query's words.
[[gnu::always_inline]] inline void multiply_words(const std::int16_t* words, int dim,
                                                  const std::int8_t* const (&keys)[2], v128_t* sums) {
  for (int k = 0; k < 2; ++k) sums[k] = wasm_i32x4_const_splat(0);
  for (int d = 0; d < dim; d += 16) {
    const v128_t first = wasm_v128_load(words + d);
    const v128_t second = wasm_v128_load(words + d + 8);
    for (int k = 0; k < 2; ++k) {
      sums[k] = wasm_i32x4_add(sums[k], wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(keys[k] + d), first));
      sums[k] = wasm_i32x4_add(sums[k], wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(keys[k] + d + 8), second));
    }
  }
}

/// result[i] = the sum of square[i]'s lanes.
inline v128_t sum_whole_lanes(const v128_t (&square)[4]) {
  const auto fold = [](v128_t a, v128_t b) {
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
  };
  return fold(fold(square[0], square[1]), fold(square[2], square[3]));
}

/// Scores of one row, four keys of each run by turns.
template <class Arch>
[[gnu::noinline]] void score_row_of_bytes(const WordQuery& query, const Runs& keys, int dim, float* scores) {
  for (const Stretch& stretch : stretches_of(keys)) {
    for (int at = stretch.begin; at < stretch.end; at += 4) {
      for (int run = stretch.first_run; run < stretch.end_run(); ++run) {
        const FewLines few = stretch.few(run, at, 4);
        v128_t square[4];
        for (int i = 0; i < 4; i += 2) {
          const std::int8_t* const two[2] = {keys.bytes(run, few.line(i)), keys.bytes(run, few.line(i + 1))};
          multiply_words(query.words, dim, two, square + i);
        }
        const Batch<Arch> factors = Batch<Arch>::load_unaligned(keys.of[run].scale + at) * Batch<Arch>(query.unit);
        const Batch<Arch> dots = wasm_f32x4_convert_i32x4(sum_whole_lanes(square));
        store_some<Arch>(dots * factors, scores + keys.place(run, at), few.count);
      }
    }
  }
}

/// output[dim] += weights x the lines of a unit, sixteen numbers at a time, by pairs of lines.
template <class Arch>
[[gnu::always_inline]] inline void add_unit(const float* weights, const std::int8_t* lines, std::ptrdiff_t stride,
                                            int dim, float* output) {
  alignas(kScratchAlignment) float own[kUnitLines];
  auto* const words = reinterpret_cast<std::int16_t*>(own);
  std::memcpy(own, weights, sizeof(own));
  const v128_t unit = wasm_f32x4_splat(round_to_words(own, kUnitLines, largest_word(kUnitLines), words));
  for (int e = 0; e < dim; e += 16) {
    v128_t sums[4];
    for (v128_t& sum : sums) sum = wasm_i32x4_const_splat(0);
    for (int j = 0; j < kUnitLines; j += 2) {
      const std::int8_t* const bytes = lines + j * stride + e;
      const v128_t pair = wasm_v128_load32_splat(words + j);
      const v128_t first = wasm_v128_load(bytes);
      const v128_t second = wasm_v128_load(bytes + stride);
      const v128_t low = wasm_i8x16_shuffle(first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const v128_t high =
          wasm_i8x16_shuffle(first, second, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      const auto add = [pair](v128_t& sum, v128_t numbers) {
        sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(numbers, pair));
      };
      add(sums[0], wasm_i16x8_extend_low_i8x16(low));
      add(sums[1], wasm_i16x8_extend_high_i8x16(low));
      add(sums[2], wasm_i16x8_extend_low_i8x16(high));
      add(sums[3], wasm_i16x8_extend_high_i8x16(high));
    }
    for (int v = 0; v < 4; ++v) {
      float* const place = output + e + 4 * v;
      multiply_add<Arch>(wasm_f32x4_convert_i32x4(sums[v]), unit, Batch<Arch>::load_aligned(place))
          .store_aligned(place);
    }
  }
}

/// output[dim] += weights x lines, of whole units. Returns of how many lines.
template <class Arch>
inline int add_units(const float* weights, const std::int8_t* lines, std::ptrdiff_t stride, int dim, int count,
                     float* output) {
  int at = 0;
  for (; at + kUnitLines <= count; at += kUnitLines) {
    add_unit<Arch>(weights + at, lines + at * stride, stride, dim, output);
  }
  return at;
}
#else
inline float make_words(float* query, int dim) {
  return round_to_words(query, dim, largest_word(dim), reinterpret_cast<std::int16_t*>(query));
}

template <class Arch>
void score_row_of_bytes(const WordQuery& query, const Runs& keys, int dim, float* scores) {
  for (int run = 0; run < kRuns; ++run) {
    for (int at = keys.begin_of(run); at < keys.end_of(run); ++at) {
      const std::int8_t* const line = keys.bytes(run, at);
      std::int32_t dot = 0;
      for (int d = 0; d < dim; ++d) dot += query.words[d] * line[d];
      scores[keys.place(run, at)] = static_cast<float>(dot) * (keys.of[run].scale[at] * query.unit);
    }
  }
}

/// Other compilers make vectors of the loop over the rest, which are all lines here.
template <class Arch>
inline int add_units(const float* /*weights*/, const std::int8_t* /*lines*/, std::ptrdiff_t /*stride*/, int /*dim*/,
                     int /*count*/, float* /*output*/) {
  return 0;
}
#endif

/// output[dim] += weights x bytes, with room up to a whole sixteen. Leaves the weights times their values' scales.
template <class Arch>
[[gnu::noinline]] void add_bytes_to_row(float* weights, const Runs& values, int dim, float* output) {
  for (int run = 0; run < kRuns; ++run) {
    const int begin = values.begin_of(run);
    const int count = values.end_of(run) - begin;
    if (count <= 0) continue;
    float* const own = weights + values.place(run, begin);
    const float* const scales = values.of[run].scale + begin;
    const std::int8_t* const lines = values.bytes(run, begin);
    // A weight of zero leaves its value out, whatever its scale.
    for (int j = 0; j < count; ++j) own[j] = own[j] == 0.0F ? 0.0F : own[j] * scales[j];
    for (int j = add_units<Arch>(own, lines, values.stride, dim, count, output); j < count; ++j) {
      const std::int8_t* const line = lines + j * values.stride;
      for (int d = 0; d < dim; ++d) output[d] += own[j] * static_cast<float>(line[d]);
    }
  }
}

}  // namespace heed::kernels
