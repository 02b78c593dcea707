// The two products of attention for a row whose keys, or values, are bytes with a scale each. Such a row waits for
// memory, unless it widens what it reads: keys meet the query as whole numbers, and so do values their weights.
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

/// Bytes in lines `stride` apart.
struct ByteLines {
  const std::int8_t* bytes;
  std::ptrdiff_t stride;
  const float* scales;  // one a line
};

/// Lines of values whose weights have one unit.
inline constexpr int kWordLines = 32;

/// A query in whole numbers: words * unit is within half a unit of it.
struct WordQuery {
  const std::int16_t* words;
  float unit;
};

/// The largest word, by which no sum of products with bytes, 127 at most, leaves 32 bits: 15 bits up to 516 numbers,
/// fewer beyond.
constexpr int largest_word(int dim) {
  constexpr int all = std::numeric_limits<std::int32_t>::max() / 127;
  constexpr int word = std::numeric_limits<std::int16_t>::max();
  return all / dim < word ? all / dim : word;
}

#ifdef __wasm_simd128__
/// Numbers as words * unit, in whole fours; `words` may be where the numbers are. Gives the unit, which is NaN if one
/// of them is not finite.
[[gnu::noinline]] inline float round_to_words(const float* numbers, int count, int largest_word, std::int16_t* words) {
  const float largest = largest_size(numbers, count);
  const auto most = static_cast<float>(largest_word);
  const v128_t inverse = wasm_f32x4_splat(most / largest);
  for (int i = 0; i < count; i += 4) {
    const v128_t scaled = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(numbers + i), inverse));
    const v128_t whole = wasm_i32x4_trunc_sat_f32x4(scaled);
    wasm_v128_store64_lane(words + i, wasm_i16x8_narrow_i32x4(whole, whole), 0);
  }
  return largest <= std::numeric_limits<float>::max() ? largest / most : std::numeric_limits<float>::quiet_NaN();
}
#else
[[gnu::noinline]] inline float round_to_words(const float* numbers, int count, int largest_word, std::int16_t* words) {
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

/// Turns a query, with zeros up to a whole vector, into words where it lies, and gives their unit. One that is not
/// finite has a unit that is NaN, as all its scores then are.
inline float make_words(float* query, int dim) {
  return round_to_words(query, dim, largest_word(dim), reinterpret_cast<std::int16_t*>(query));
}

inline std::int32_t dot_of_rest(const WordQuery& query, const std::int8_t* bytes, int from, int dim) {
  std::int32_t sum = 0;
  for (int d = from; d < dim; ++d) sum += query.words[d] * bytes[d];
  return sum;
}

#ifdef __wasm_simd128__
/// result[i] = the sum of square[i]'s lanes.
inline v128_t sum_whole_lanes(const v128_t (&square)[4]) {
  const auto fold = [](v128_t a, v128_t b) {
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
  };
  return fold(fold(square[0], square[1]), fold(square[2], square[3]));
}

/// Scores of one row, key after key, with room up to a whole vector. The query is loaded once for two keys.
template <class Arch>
[[gnu::noinline]] void score_row_of_bytes(const WordQuery& query, const ByteLines& keys, int dim, int count,
                                          float* scores) {
  for (int j = 0; j < count; j += 4) {
    v128_t square[4];
    for (int i = 0; i < 4; i += 2) {
      const int last = count - 1;
      const std::int8_t* const key = keys.bytes + (j + i < last ? j + i : last) * keys.stride;
      const std::int8_t* const next = key + (j + i < last ? keys.stride : 0);
      v128_t first = wasm_i32x4_const_splat(0);
      v128_t second = first;
      int d = 0;
      for (; d + 16 <= dim; d += 16) {
        const v128_t low = wasm_v128_load(query.words + d);
        const v128_t high = wasm_v128_load(query.words + d + 8);
        const auto add = [low, high](v128_t& sum, const std::int8_t* bytes) {
          sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(bytes), low));
          sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(bytes + 8), high));
        };
        add(first, key + d);
        add(second, next + d);
      }
      if (d < dim) {
        first = wasm_i32x4_add(first, wasm_i32x4_make(dot_of_rest(query, key, d, dim), 0, 0, 0));
        second = wasm_i32x4_add(second, wasm_i32x4_make(dot_of_rest(query, next, d, dim), 0, 0, 0));
      }
      square[i] = first;
      square[i + 1] = second;
    }
    const int left = count - j;
    const Batch<Arch> factors = load_some<Arch>(keys.scales + j, left < 4 ? left : 4) * Batch<Arch>(query.unit);
    const Batch<Arch> dots = wasm_f32x4_convert_i32x4(sum_whole_lanes(square));
    (dots * factors).store_aligned(scores + j);
  }
}
#else
template <class Arch>
void score_row_of_bytes(const WordQuery& query, const ByteLines& keys, int dim, int count, float* scores) {
  for (int j = 0; j < count; ++j) {
    const std::int32_t dot = dot_of_rest(query, keys.bytes + j * keys.stride, 0, dim);
    scores[j] = static_cast<float>(dot) * (keys.scales[j] * query.unit);
  }
}
#endif

#ifdef __wasm_simd128__
/// Sixteen numbers at a time, of lines in pairs. Returns how many were done.
template <class Arch>
inline int add_sixteens(const float* weights, const ByteLines& values, int dim, int count, float* output) {
  alignas(kScratchAlignment) float own[kWordLines] = {};
  alignas(kScratchAlignment) std::int16_t words[kWordLines];
  std::memcpy(own, weights, static_cast<std::size_t>(count) * sizeof(float));
  const v128_t unit = wasm_f32x4_splat(round_to_words(own, kWordLines, largest_word(kWordLines), words));
  int e = 0;
  for (; e + 16 <= dim; e += 16) {
    v128_t sums[4];
    for (v128_t& sum : sums) sum = wasm_i32x4_const_splat(0);
    const std::int8_t* bytes = values.bytes + e;
    for (int j = 0; j < count; j += 2, bytes += 2 * values.stride) {
      const v128_t pair = wasm_v128_load32_splat(words + j);
      const v128_t first = wasm_v128_load(bytes);
      const v128_t second = wasm_v128_load(bytes + (j + 1 < count ? values.stride : 0));
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
  return e;
}
#else
/// Other compilers make vectors of the loop over the rest.
template <class Arch>
inline int add_sixteens(const float* /*weights*/, const ByteLines& /*values*/, int /*dim*/, int /*count*/,
                        float* /*output*/) {
  return 0;
}
#endif

/// output[dim] += weights x bytes. Leaves the weights times their values' scales.
template <class Arch>
[[gnu::noinline]] void add_bytes_to_row(float* weights, ByteLines values, int dim, int count, float* output) {
  // A weight of zero leaves its value out, whatever its scale.
  for (int j = 0; j < count; ++j) weights[j] = weights[j] == 0.0F ? 0.0F : weights[j] * values.scales[j];
  for (int left = count; left > 0; left -= kWordLines, weights += kWordLines) {
    const int some = left < kWordLines ? left : kWordLines;
    const int done = add_sixteens<Arch>(weights, values, dim, some, output);
    for (int j = 0; j < some && done < dim; ++j) {
      const std::int8_t* const line = values.bytes + j * values.stride;
      for (int d = done; d < dim; ++d) output[d] += weights[j] * static_cast<float>(line[d]);
    }
    values.bytes += some * values.stride;
  }
}

}  // namespace heed::kernels
