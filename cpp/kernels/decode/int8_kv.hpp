// The two products of decode with an int8 KV cache: symmetric, one f32 scale a token and head. Decode is memory-bound
// unless it widens what it reads. So the query is quantized to int16, QK^T is an int16 dot product, and one
// multiplication dequantizes a score; the weights of a tile of values are quantized likewise.
//
// Both products are of pairs of int8 with pairs of int16: two numbers of a key with two of the query, or one dimension
// of two values with their weights. Tiles hold pairs in the order in which they are met: see heed/i8_tile.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/decode/row_products.hpp"
#include "kernels/memory/widen.hpp"

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace heed::kernels {

/// A quantized query: values * unit is within half a unit of it.
struct I16Query {
  const std::int16_t* values;
  float scale;
};

/// The largest int16 by which no sum of products with int8, 127 at most, leaves 32 bits: 15 bits up to 516 numbers,
/// fewer beyond.
constexpr int largest_i16(int dim) {
  constexpr int all = std::numeric_limits<std::int32_t>::max() / 127;
  constexpr int word = std::numeric_limits<std::int16_t>::max();
  return all / dim < word ? all / dim : word;
}

#ifdef __wasm_simd128__
/// KvRow, of which `largest` is the largest magnitude, as words * unit, in whole eights; `words` may be where the
/// numbers are. Gives the unit, which is NaN if one of them is not finite. Where none is beyond 1e-34 words are zeros.
[[gnu::noinline]] inline float quantize_to_i16(const float* numbers, int count, float largest, int largest_i16,
                                               std::int16_t* quantized) {
  const auto most = static_cast<float>(largest_i16);
  const v128_t inverse = wasm_f32x4_splat(most / largest);
  // The constant is so large that the last bits of a sum are a whole number; those of NaN, which is 0 / 0, are zeros.
  const v128_t whole = wasm_f32x4_const_splat(0x1.8p23F);
  const auto round = [=](const float* four) {
    return wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(four), inverse), whole);
  };
  for (int i = 0; i < count; i += 8) {
    const v128_t first = round(numbers + i);
    wasm_v128_store(quantized + i, wasm_i16x8_shuffle(first, round(numbers + i + 4), 0, 2, 4, 6, 8, 10, 12, 14));
  }
  return largest <= std::numeric_limits<float>::max() ? largest / most : std::numeric_limits<float>::quiet_NaN();
}
#else
[[gnu::noinline]] inline float quantize_to_i16(const float* numbers, int count, int largest_i16,
                                               std::int16_t* quantized) {
  float largest = 0.0F;
  for (int i = 0; i < count; ++i) {
    const float size = numbers[i] < 0.0F ? -numbers[i] : numbers[i];
    if (!(size <= largest)) largest = size;
  }
  const auto most = static_cast<float>(largest_i16);
  const float inverse = most / largest;
  // If the largest is zero, or very small, its inverse is not a number to multiply with.
  const bool is_usable = largest <= std::numeric_limits<float>::max() && inverse <= std::numeric_limits<float>::max();
  for (int i = 0; i < count; ++i) {
    quantized[i] = is_usable ? static_cast<std::int16_t>(__builtin_rintf(numbers[i] * inverse)) : std::int16_t{0};
  }
  return largest <= std::numeric_limits<float>::max() ? largest / most : std::numeric_limits<float>::quiet_NaN();
}
#endif

#ifdef __wasm_simd128__
/// Quantizes a query, with zeros up to a whole vector, where it lies, and returns its scale. A query that is not finite
/// has a scale that is NaN, as all its scores then are.
inline float quantize_query(float* query, int dim) {
  const float largest = largest_magnitude(query, dim);
  return quantize_to_i16(query, dim, largest, largest_i16(dim), reinterpret_cast<std::int16_t*>(query));
}

/// The dot products of the columns of tiles with pairs of int16, of each tile its own.
template <int kTiles>
[[gnu::always_inline]] inline void dot_pairs(const std::int16_t* const (&quantized)[kTiles],
                                             const std::int8_t* const (&tiles)[kTiles], int pairs,
                                             v128_t (&sums)[kTiles][4]) {
  const std::int16_t* next[kTiles];
  const std::int8_t* bytes[kTiles];
  for (int t = 0; t < kTiles; ++t) {
    next[t] = quantized[t];
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
      bytes[t] += kI8PairBytes;
    }
  }
}

/// The product of one row with int8 rows: of its quantized query with keys, or of its weights with values.
struct I8Product {
  const void* row;
  float scale;  // of the query
  const StreamPair& rows;
  int dim;
  float* results;

  [[nodiscard]] const std::int16_t* query() const { return static_cast<const std::int16_t*>(row); }
  [[nodiscard]] const float* weights() const { return static_cast<const float*>(row); }
};

/// What is done with rows [begin, end) of one stream.
using VisitStream = void(const I8Product& product, int stream, int begin, int end);
/// What is done with those of both streams.
using VisitStreams = void(const I8Product& product, int begin, int end);
static_assert(kStreams == 2);

/// Visits the tiles of two streams, of each number first that of the first stream, so that the order depends on
/// positions alone. Tiles that are whole in both come pair by pair: memory gives two streams sooner what takes as long
/// to multiply as one stream takes to read.
[[gnu::noinline]] inline void for_each_tile_pair(const I8Product& product, int tile, VisitStream* one,
                                                 VisitStreams* two) {
  const StreamPair& rows = product.rows;
  const int begins[] = {rows.begin_of(0), rows.begin_of(1)};
  const int ends[] = {rows.end_of(0), rows.end_of(1)};
  // The tiles in which the first stream begins and the second ends come alone.
  const int first = begins[0] / tile * tile;
  const int last = ends[1] / tile * tile;
  const int stops[] = {first, first + tile, last, last + tile};
  int to = 0;
  for (int from = 0; from < rows.length; from = to) {
    to = rows.length;
    for (const int stop : stops) to = stop > from && stop < to ? stop : to;
    const bool are_whole = begins[0] <= from && begins[1] <= from && to <= ends[0] && to <= ends[1];
    if (are_whole && (to - from) % tile == 0) {
      two(product, from, to);
      continue;
    }
    for (int stream = 0; stream < kStreams; ++stream) {
      const int begin = from < begins[stream] ? begins[stream] : from;
      const int end = to < ends[stream] ? to : ends[stream];
      if (begin < end) one(product, stream, begin, end);
    }
  }
}

/// Dequantizes the dot products of a tile.
[[gnu::always_inline]] inline void store_scores(const v128_t (&sums)[4], const float* scales, float query_scale,
                                                float* scores) {
  for (int s = 0; s < 4; ++s) {
    const v128_t factors = wasm_f32x4_mul(wasm_v128_load(scales + 4 * s), wasm_f32x4_splat(query_scale));
    wasm_v128_store(scores + 4 * s, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums[s]), factors));
  }
}

inline void score_stream(const I8Product& product, int stream, int begin, int end) {
  const StreamPair& keys = product.rows;
  for (int tile = begin / kI8TileColumns * kI8TileColumns; tile < end; tile += kI8TileColumns) {
    v128_t sums[1][4];
    dot_pairs<1>({product.query()}, {keys.i8(stream, tile)}, (product.dim + 1) / 2, sums);
    const bool is_whole = tile >= begin && tile + kI8TileColumns <= end;
    float* const target = product.results + keys.position(stream, tile);
    alignas(kScratchAlignment) float room[kI8TileColumns];
    store_scores(sums[0], keys.of[stream].scale + tile, product.scale, is_whole ? target : room);
    if (is_whole) continue;
    for (int at = tile < begin ? begin : tile; at < end && at < tile + kI8TileColumns; ++at) {
      target[at - tile] = room[at - tile];
    }
  }
}

inline void score_two_streams(const I8Product& product, int begin, int end) {
  const StreamPair& keys = product.rows;
  for (int tile = begin; tile < end; tile += kI8TileColumns) {
    v128_t sums[2][4];
    dot_pairs<2>({product.query(), product.query()}, {keys.i8(0, tile), keys.i8(1, tile)}, (product.dim + 1) / 2, sums);
    HEED_KEEP_LOOP
    for (int t = 0; t < 2; ++t) {
      store_scores(sums[t], keys.of[t].scale + tile, product.scale, product.results + keys.position(t, tile));
    }
  }
}

/// Scores of one query.
inline void score_i8_keys(const I16Query& query, const StreamPair& keys, int dim, float* scores) {
  for_each_tile_pair({query.values, query.scale, keys, dim, scores}, kI8TileColumns, &score_stream, &score_two_streams);
}

/// Multiplies the weights of a tile with the scales of its values, and returns the largest magnitude. A weight of zero
/// leaves its value out, whatever its scale.
[[gnu::always_inline]] inline float multiply_scales(const float* weights, const float* scales, float* products) {
  v128_t sizes = wasm_i32x4_const_splat(0);
  HEED_KEEP_LOOP
  for (int j = 0; j < kI8TileValues; j += 4) {
    const v128_t weight = wasm_v128_load(weights + j);
    const v128_t product = wasm_v128_and(wasm_f32x4_mul(weight, wasm_v128_load(scales + j)),
                                         wasm_f32x4_ne(weight, wasm_f32x4_const_splat(0.0F)));
    wasm_v128_store(products + j, product);
    sizes = wasm_i32x4_max(sizes, wasm_f32x4_abs(product));
  }
  return largest_of_lanes(sizes);
}

/// Quantizes the weights of a tile times its scales, in place of `own`, and returns their scale.
[[gnu::noinline]] inline v128_t quantize_weights(const float* weights, const float* scales, float* own) {
  const float largest = multiply_scales(weights, scales, own);
  return wasm_f32x4_splat(
      quantize_to_i16(own, kI8TileValues, largest, largest_i16(kI8TileValues), reinterpret_cast<std::int16_t*>(own)));
}

inline void add_stream(const I8Product& product, int stream, int begin, int end) {
  const StreamPair& values = product.rows;
  for (int at = begin, tile = 0; at < end; at = tile + kI8TileValues) {
    tile = at / kI8TileValues * kI8TileValues;
    const int stop = end < tile + kI8TileValues ? end : tile + kI8TileValues;
    alignas(kScratchAlignment) float own[kI8TileValues] = {};
    const float* given = product.weights() + values.position(stream, tile);
    if (stop - at < kI8TileValues) {
      // Other values of the tile have a weight of zero.
      std::memcpy(own + (at - tile), given + (at - tile), static_cast<std::size_t>(stop - at) * sizeof(float));
      given = own;
    }
    const v128_t scale = quantize_weights(given, values.of[stream].scale + tile, own);
    const std::int8_t* const bytes = values.i8(stream, tile);
    for (int e = 0; e < product.dim; e += kI8TileColumns) {
      v128_t sums[1][4];
      dot_pairs<1>({reinterpret_cast<const std::int16_t*>(own)}, {bytes + e * kI8TileValues}, (stop - tile + 1) / 2,
                   sums);
      for (int s = 0; s < 4; ++s) {
        float* const address = product.results + e + 4 * s;
        multiply_add(wasm_f32x4_convert_i32x4(sums[0][s]), scale, Batch::load_aligned(address)).store_aligned(address);
      }
    }
  }
}

inline void add_two_streams(const I8Product& product, int begin, int end) {
  const StreamPair& values = product.rows;
  for (int tile = begin; tile < end; tile += kI8TileValues) {
    alignas(kScratchAlignment) float own[2][kI8TileValues];
    v128_t weight_scales[2];
    HEED_KEEP_LOOP
    for (int t = 0; t < 2; ++t) {
      weight_scales[t] =
          quantize_weights(product.weights() + values.position(t, tile), values.of[t].scale + tile, own[t]);
    }
    const std::int8_t* const first = values.i8(0, tile);
    const std::int8_t* const second = values.i8(1, tile);
    for (int e = 0; e < product.dim; e += kI8TileColumns) {
      v128_t sums[2][4];
      dot_pairs<2>({reinterpret_cast<const std::int16_t*>(own[0]), reinterpret_cast<const std::int16_t*>(own[1])},
                   {first + e * kI8TileValues, second + e * kI8TileValues}, kI8TileValues / 2, sums);
      for (int s = 0; s < 4; ++s) {
        float* const address = product.results + e + 4 * s;
        Batch sum = Batch::load_aligned(address);
        for (int t = 0; t < 2; ++t) sum = multiply_add(wasm_f32x4_convert_i32x4(sums[t][s]), weight_scales[t], sum);
        sum.store_aligned(address);
      }
    }
  }
}

/// output[dim] += weights x values, with room up to a whole sixteen.
inline void add_i8_values(const float* weights, const StreamPair& values, int dim, float* output) {
  for_each_tile_pair({weights, 1.0F, values, dim, output}, kI8TileValues, &add_stream, &add_two_streams);
}
#else
inline float quantize_query(float* query, int dim) {
  return quantize_to_i16(query, dim, largest_i16(dim), reinterpret_cast<std::int16_t*>(query));
}

inline void score_i8_keys(const I16Query& query, const StreamPair& keys, int dim, float* scores) {
  for (int stream = 0; stream < kStreams; ++stream) {
    for (int at = keys.begin_of(stream); at < keys.end_of(stream); ++at) {
      const KvRow line = row_in_i8_tiles(keys.of[stream], keys.stride, at);
      std::int32_t dot = 0;
      for (int d = 0; d < dim; ++d) dot += query.values[d] * line.i8_at(d);
      scores[keys.position(stream, at)] = static_cast<float>(dot) * (*line.scale * query.scale);
    }
  }
}

[[gnu::noinline]] inline void add_i8_values(const float* weights, const StreamPair& values, int dim, float* output) {
  for (int stream = 0; stream < kStreams; ++stream) {
    for (int at = values.begin_of(stream); at < values.end_of(stream); ++at) {
      const float weight = weights[values.position(stream, at)];
      // A weight of zero leaves its value out, whatever its scale.
      if (weight == 0.0F) continue;
      const KvRow line = row_in_i8_tiles(values.of[stream], values.stride, at);
      const float factor = weight * *line.scale;
      for (int e = 0; e < dim; ++e) output[e] += factor * static_cast<float>(line.i8_at(e));
    }
  }
}
#endif

}  // namespace heed::kernels
