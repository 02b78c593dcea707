// The two products of attention for a row whose keys, or values, are bytes with a scale each. Such a row waits for
// memory, unless it widens what it reads: keys meet the query as whole numbers, and so do values their weights.
//
// Both products are of pairs of bytes with pairs of words: a key's numbers with the query's, or those of two values, of
// one dimension, with their weights. Tiles have pairs in the order in which they are met: see heed::DType.
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

/// The largest word, by which no sum of products with bytes, 127 at most, leaves 32 bits: 15 bits up to 516 numbers,
/// fewer beyond.
constexpr int largest_word(int dim) {
  constexpr int all = std::numeric_limits<std::int32_t>::max() / 127;
  constexpr int word = std::numeric_limits<std::int16_t>::max();
  return all / dim < word ? all / dim : word;
}

#ifdef __wasm_simd128__
/// Numbers, of which `largest` is the largest magnitude, as words * unit, in whole eights; `words` may be where the
/// numbers are. Gives the unit, which is NaN if one of them is not finite. Where none is beyond 1e-34 words are zeros.
[[gnu::noinline]] static inline float round_to_words(const float* numbers, int count, float largest, int largest_word,
                                                     std::int16_t* words) {
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
  const float largest = largest_size(query, dim);
  return round_to_words(query, dim, largest, largest_word(dim), reinterpret_cast<std::int16_t*>(query));
}

/// Of the columns of a tile the products of pairs of words with their pairs of bytes, added up.
[[gnu::always_inline]] inline void multiply_pairs(const std::int16_t* words, const std::int8_t* bytes, int pairs,
                                                  v128_t (&sums)[4]) {
  for (v128_t& sum : sums) sum = wasm_i32x4_const_splat(0);
  for (int n = 0; n < pairs; ++n, words += 2, bytes += kPairBytes) {
    const v128_t pair = wasm_v128_load32_splat(words);
    for (int s = 0; s < 4; ++s) {
      sums[s] = wasm_i32x4_add(sums[s], wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(bytes + 8 * s), pair));
    }
  }
}

/// Scores of one row.
template <class Arch>
[[gnu::noinline]] void score_row_of_bytes(const WordQuery& query, const Runs& keys, int dim, float* scores) {
  for (int run = 0; run < kRuns; ++run) {
    const int begin = keys.begin_of(run);
    const int end = keys.end_of(run);
    for (int tile = begin / kTileColumns * kTileColumns; tile < end; tile += kTileColumns) {
      v128_t sums[4];
      multiply_pairs(query.words, keys.bytes(run, tile), (dim + 1) / 2, sums);
      const bool is_whole = tile >= begin && tile + kTileColumns <= end;
      float* const target = scores + keys.place(run, tile);
      alignas(kScratchAlignment) float room[kTileColumns];
      float* const dots = is_whole ? target : room;
      for (int s = 0; s < 4; ++s) {
        const v128_t factors =
            wasm_f32x4_mul(wasm_v128_load(keys.of[run].scale + tile + 4 * s), wasm_f32x4_splat(query.unit));
        wasm_v128_store(dots + 4 * s, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums[s]), factors));
      }
      if (is_whole) continue;
      for (int at = tile < begin ? begin : tile; at < end && at < tile + kTileColumns; ++at) {
        target[at - tile] = room[at - tile];
      }
    }
  }
}

/// The weights of a tile times the scales of its values. Gives the largest magnitude. A weight of zero leaves its value
/// out, whatever its scale.
[[gnu::always_inline]] inline float weigh_scales(const float* weights, const float* scales, float* products) {
  v128_t sizes = wasm_i32x4_const_splat(0);
#pragma clang loop unroll(disable)
  for (int j = 0; j < kTileValues; j += 4) {
    const v128_t weight = wasm_v128_load(weights + j);
    const v128_t product = wasm_v128_and(wasm_f32x4_mul(weight, wasm_v128_load(scales + j)),
                                         wasm_f32x4_ne(weight, wasm_f32x4_const_splat(0.0F)));
    wasm_v128_store(products + j, product);
    sizes = wasm_i32x4_max(sizes, wasm_f32x4_abs(product));
  }
  return largest_lane(sizes);
}

/// output[dim] += weights x bytes, with room up to a whole sixteen.
template <class Arch>
[[gnu::noinline]] void add_bytes_to_row(const float* weights, const Runs& values, int dim, float* output) {
  for (int run = 0; run < kRuns; ++run) {
    const int end = values.end_of(run);
    for (int at = values.begin_of(run), tile = 0; at < end; at = tile + kTileValues) {
      tile = at / kTileValues * kTileValues;
      const int stop = end < tile + kTileValues ? end : tile + kTileValues;
      alignas(kScratchAlignment) float own[kTileValues] = {};
      const float* given = weights + values.place(run, tile);
      if (stop - at < kTileValues) {
        // What the tile has of other values counts for nothing.
        std::memcpy(own + (at - tile), given + (at - tile), static_cast<std::size_t>(stop - at) * sizeof(float));
        given = own;
      }
      const float largest = weigh_scales(given, values.of[run].scale + tile, own);
      auto* const words = reinterpret_cast<std::int16_t*>(own);
      const v128_t unit = wasm_f32x4_splat(round_to_words(own, kTileValues, largest, largest_word(kTileValues), words));
      const std::int8_t* const bytes = values.bytes(run, tile);
      for (int e = 0; e < dim; e += kTileColumns) {
        v128_t sums[4];
        multiply_pairs(words, bytes + e * kTileValues, (stop - tile + 1) / 2, sums);
        for (int s = 0; s < 4; ++s) {
          float* const place = output + e + 4 * s;
          multiply_add<Arch>(wasm_f32x4_convert_i32x4(sums[s]), unit, Batch<Arch>::load_aligned(place))
              .store_aligned(place);
        }
      }
    }
  }
}
#else
inline float make_words(float* query, int dim) {
  return round_to_words(query, dim, largest_word(dim), reinterpret_cast<std::int16_t*>(query));
}

template <class Arch>
void score_row_of_bytes(const WordQuery& query, const Runs& keys, int dim, float* scores) {
  for (int run = 0; run < kRuns; ++run) {
    for (int at = keys.begin_of(run); at < keys.end_of(run); ++at) {
      const Numbers line = row_in_tiles(keys.of[run], keys.stride, at);
      std::int32_t dot = 0;
      for (int d = 0; d < dim; ++d) dot += query.words[d] * line.byte(d);
      scores[keys.place(run, at)] = static_cast<float>(dot) * (*line.scale * query.unit);
    }
  }
}

template <class Arch>
[[gnu::noinline]] void add_bytes_to_row(const float* weights, const Runs& values, int dim, float* output) {
  for (int run = 0; run < kRuns; ++run) {
    for (int at = values.begin_of(run); at < values.end_of(run); ++at) {
      const float weight = weights[values.place(run, at)];
      // A weight of zero leaves its value out, whatever its scale.
      if (weight == 0.0F) continue;
      const Numbers line = row_in_tiles(values.of[run], values.stride, at);
      const float factor = weight * *line.scale;
      for (int e = 0; e < dim; ++e) output[e] += factor * static_cast<float>(line.byte(e));
    }
  }
}
#endif

}  // namespace heed::kernels
