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

/// Of the columns of tiles the products of their pairs of bytes with pairs of words, of each tile its own, added up.
template <int kTiles>
[[gnu::always_inline]] inline void multiply_pairs(const std::int16_t* const (&words)[kTiles],
                                                  const std::int8_t* const (&tiles)[kTiles], int pairs,
                                                  v128_t (&sums)[kTiles][4]) {
  const std::int16_t* next[kTiles];
  const std::int8_t* bytes[kTiles];
  for (int t = 0; t < kTiles; ++t) {
    next[t] = words[t];
    bytes[t] = tiles[t];
    for (v128_t& sum : sums[t]) sum = wasm_i32x4_const_splat(0);
  }
  for (int n = 0; n < pairs; ++n) {
    for (int t = 0; t < kTiles; ++t) {
      const v128_t pair = wasm_v128_load32_splat(next[t]);
      next[t] += 2;
      for (int s = 0; s < 4; ++s) {
        const v128_t eight = wasm_i16x8_load8x8(bytes[t] + 8 * s);
        sums[t][s] = wasm_i32x4_add(sums[t][s], wasm_i32x4_dot_i16x8(eight, pair));
      }
      bytes[t] += kPairBytes;
    }
  }
}

/// One row's product with lines of bytes: of its query, in words, with keys, or of its weights with values.
struct ByteProduct {
  const void* row;
  float unit;  // of the query
  const Runs& lines;
  int dim;
  float* results;

  [[nodiscard]] const std::int16_t* query() const { return static_cast<const std::int16_t*>(row); }
  [[nodiscard]] const float* weights() const { return static_cast<const float*>(row); }
};

/// What is done with lines [begin, end) of one run.
using MultiplyLines = void(const ByteProduct& product, int run, int begin, int end);
/// Or of both runs.
using MultiplyTwice = void(const ByteProduct& product, int begin, int end);
static_assert(kRuns == 2);

/// Tile after tile of two runs, of each number first the first run's, so that the order is that of the places alone.
/// Tiles that are whole in both come pair after pair: from two places memory brings sooner what takes as long to
/// multiply as one place takes to read.
[[gnu::noinline]] static inline void multiply_runs(const ByteProduct& product, int tile, MultiplyLines* one,
                                                   MultiplyTwice* two) {
  const Runs& lines = product.lines;
  const int begins[] = {lines.begin_of(0), lines.begin_of(1)};
  const int ends[] = {lines.end_of(0), lines.end_of(1)};
  // The tiles in which the first run begins and the second ends, which come alone.
  const int first = begins[0] / tile * tile;
  const int last = ends[1] / tile * tile;
  const int stops[] = {first, first + tile, last, last + tile};
  int to = 0;
  for (int from = 0; from < lines.length; from = to) {
    to = lines.length;
    for (const int stop : stops) to = stop > from && stop < to ? stop : to;
    const bool are_whole = begins[0] <= from && begins[1] <= from && to <= ends[0] && to <= ends[1];
    if (are_whole && (to - from) % tile == 0) {
      two(product, from, to);
      continue;
    }
    for (int run = 0; run < kRuns; ++run) {
      const int begin = from < begins[run] ? begins[run] : from;
      const int end = to < ends[run] ? to : ends[run];
      if (begin < end) one(product, run, begin, end);
    }
  }
}

/// Of a tile's dots, given as whole numbers, the scores.
[[gnu::always_inline]] inline void store_scores(const v128_t (&sums)[4], const float* scales, float unit,
                                                float* scores) {
  for (int s = 0; s < 4; ++s) {
    const v128_t factors = wasm_f32x4_mul(wasm_v128_load(scales + 4 * s), wasm_f32x4_splat(unit));
    wasm_v128_store(scores + 4 * s, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums[s]), factors));
  }
}

static inline void score_run(const ByteProduct& product, int run, int begin, int end) {
  const Runs& keys = product.lines;
  for (int tile = begin / kTileColumns * kTileColumns; tile < end; tile += kTileColumns) {
    v128_t sums[1][4];
    multiply_pairs<1>({product.query()}, {keys.bytes(run, tile)}, (product.dim + 1) / 2, sums);
    const bool is_whole = tile >= begin && tile + kTileColumns <= end;
    float* const target = product.results + keys.place(run, tile);
    alignas(kScratchAlignment) float room[kTileColumns];
    store_scores(sums[0], keys.of[run].scale + tile, product.unit, is_whole ? target : room);
    if (is_whole) continue;
    for (int at = tile < begin ? begin : tile; at < end && at < tile + kTileColumns; ++at) {
      target[at - tile] = room[at - tile];
    }
  }
}

static inline void score_two_runs(const ByteProduct& product, int begin, int end) {
  const Runs& keys = product.lines;
  for (int tile = begin; tile < end; tile += kTileColumns) {
    v128_t sums[2][4];
    multiply_pairs<2>({product.query(), product.query()}, {keys.bytes(0, tile), keys.bytes(1, tile)},
                      (product.dim + 1) / 2, sums);
    HEED_KEEP_LOOP
    for (int t = 0; t < 2; ++t) {
      store_scores(sums[t], keys.of[t].scale + tile, product.unit, product.results + keys.place(t, tile));
    }
  }
}

/// Scores of one row.
template <class Arch>
void score_row_of_bytes(const WordQuery& query, const Runs& keys, int dim, float* scores) {
  multiply_runs({query.words, query.unit, keys, dim, scores}, kTileColumns, &score_run, &score_two_runs);
}

/// The weights of a tile times the scales of its values. Gives the largest magnitude. A weight of zero leaves its value
/// out, whatever its scale.
[[gnu::always_inline]] inline float weigh_scales(const float* weights, const float* scales, float* products) {
  v128_t sizes = wasm_i32x4_const_splat(0);
  HEED_KEEP_LOOP
  for (int j = 0; j < kTileValues; j += 4) {
    const v128_t weight = wasm_v128_load(weights + j);
    const v128_t product = wasm_v128_and(wasm_f32x4_mul(weight, wasm_v128_load(scales + j)),
                                         wasm_f32x4_ne(weight, wasm_f32x4_const_splat(0.0F)));
    wasm_v128_store(products + j, product);
    sizes = wasm_i32x4_max(sizes, wasm_f32x4_abs(product));
  }
  return largest_lane(sizes);
}

/// The words of a tile's weights times scales, which take the place of `own`, and their unit.
[[gnu::noinline]] static inline v128_t weigh_tile(const float* weights, const float* scales, float* own) {
  const float largest = weigh_scales(weights, scales, own);
  return wasm_f32x4_splat(
      round_to_words(own, kTileValues, largest, largest_word(kTileValues), reinterpret_cast<std::int16_t*>(own)));
}

template <class Arch>
void add_run(const ByteProduct& product, int run, int begin, int end) {
  const Runs& values = product.lines;
  for (int at = begin, tile = 0; at < end; at = tile + kTileValues) {
    tile = at / kTileValues * kTileValues;
    const int stop = end < tile + kTileValues ? end : tile + kTileValues;
    alignas(kScratchAlignment) float own[kTileValues] = {};
    const float* given = product.weights() + values.place(run, tile);
    if (stop - at < kTileValues) {
      // What the tile has of other values counts for nothing.
      std::memcpy(own + (at - tile), given + (at - tile), static_cast<std::size_t>(stop - at) * sizeof(float));
      given = own;
    }
    const v128_t unit = weigh_tile(given, values.of[run].scale + tile, own);
    const std::int8_t* const bytes = values.bytes(run, tile);
    for (int e = 0; e < product.dim; e += kTileColumns) {
      v128_t sums[1][4];
      multiply_pairs<1>({reinterpret_cast<const std::int16_t*>(own)}, {bytes + e * kTileValues}, (stop - tile + 1) / 2,
                        sums);
      for (int s = 0; s < 4; ++s) {
        float* const place = product.results + e + 4 * s;
        multiply_add<Arch>(wasm_f32x4_convert_i32x4(sums[0][s]), unit, Batch<Arch>::load_aligned(place))
            .store_aligned(place);
      }
    }
  }
}

template <class Arch>
void add_two_runs(const ByteProduct& product, int begin, int end) {
  const Runs& values = product.lines;
  for (int tile = begin; tile < end; tile += kTileValues) {
    alignas(kScratchAlignment) float own[2][kTileValues];
    v128_t units[2];
    HEED_KEEP_LOOP
    for (int t = 0; t < 2; ++t) {
      units[t] = weigh_tile(product.weights() + values.place(t, tile), values.of[t].scale + tile, own[t]);
    }
    const std::int8_t* const first = values.bytes(0, tile);
    const std::int8_t* const second = values.bytes(1, tile);
    for (int e = 0; e < product.dim; e += kTileColumns) {
      v128_t sums[2][4];
      multiply_pairs<2>({reinterpret_cast<const std::int16_t*>(own[0]), reinterpret_cast<const std::int16_t*>(own[1])},
                        {first + e * kTileValues, second + e * kTileValues}, kTileValues / 2, sums);
      for (int s = 0; s < 4; ++s) {
        float* const place = product.results + e + 4 * s;
        Batch<Arch> sum = Batch<Arch>::load_aligned(place);
        for (int t = 0; t < 2; ++t) sum = multiply_add<Arch>(wasm_f32x4_convert_i32x4(sums[t][s]), units[t], sum);
        sum.store_aligned(place);
      }
    }
  }
}

/// output[dim] += weights x bytes, with room up to a whole sixteen.
template <class Arch>
void add_bytes_to_row(const float* weights, const Runs& values, int dim, float* output) {
  multiply_runs({weights, 1.0F, values, dim, output}, kTileValues, &add_run<Arch>, &add_two_runs<Arch>);
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
