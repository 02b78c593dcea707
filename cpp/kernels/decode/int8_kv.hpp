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

namespace heed::kernels {

/// A quantized query: values * scale is within half a scale of it.
struct I16Query {
  const std::int16_t* values;
  float scale;
};

/// The largest int16 by which no sum of products with int8, 127 at most, leaves 32 bits: 15 bits up to 516 numbers,
/// fewer beyond.
constexpr int largest_i16(int dim) {
  constexpr int all = std::numeric_limits<std::int32_t>::max() / 127;
  constexpr int most = std::numeric_limits<std::int16_t>::max();
  return all / dim < most ? all / dim : most;
}

/// Quantizes numbers, of which `largest` is the largest magnitude, in whole panels; `quantized` may be where they are.
/// Returns their scale, which is NaN if one of them is not finite. Where none is beyond 1e-34 all become zeros.
[[gnu::noinline]] inline float quantize_to_i16(const float* numbers, int count, float largest, int largest_i16,
                                               std::int16_t* quantized) {
  const auto most = static_cast<float>(largest_i16);
  const Batch inverse(most / largest);
  // The constant is so large that the last bits of a sum are a whole number; those of NaN, which is 0 / 0, are zeros.
  const Batch whole(0x1.8p23F);
  const auto round = [=](const float* vector) {
    return xsimd::bitwise_cast<std::int32_t>(Batch::load_unaligned(vector) * inverse + whole);
  };
  for (int i = 0; i < count; i += kPanel) {
    const I32Batch first = round(numbers + i);
    store_low_i16(first, round(numbers + i + kLanes), quantized + i);
  }
  return largest <= std::numeric_limits<float>::max() ? largest / most : std::numeric_limits<float>::quiet_NaN();
}

/// Quantizes a query, with zeros up to a whole vector, where it lies, and returns its scale. A query that is not finite
/// has a scale that is NaN, as all its scores then are.
inline float quantize_query(float* query, int dim) {
  const float largest = largest_magnitude(query, dim);
  return quantize_to_i16(query, dim, largest, largest_i16(dim), reinterpret_cast<std::int16_t*>(query));
}

/// Dot products of the columns of a tile.
inline constexpr int kColumnVectors = kI8TileColumns / kLanes;
using ColumnSums = I32Batch[kColumnVectors];

/// The dot products of the columns of tiles with pairs of int16, of each tile its own.
template <int kTiles>
[[gnu::always_inline]] inline void dot_tiles(const std::int16_t* const (&quantized)[kTiles],
                                             const std::int8_t* const (&tiles)[kTiles], int pairs,
                                             ColumnSums (&sums)[kTiles]) {
  const std::int16_t* next[kTiles];
  const std::int8_t* bytes[kTiles];
  for (int t = 0; t < kTiles; ++t) {
    next[t] = quantized[t];
    bytes[t] = tiles[t];
    for (I32Batch& sum : sums[t]) sum = I32Batch(0);
  }
  for (int n = 0; n < pairs; ++n) {
    for (int t = 0; t < kTiles; ++t) {
      const I32Batch pair = broadcast_pair(next[t]);
      next[t] += 2;
      for (int s = 0; s < kColumnVectors; ++s) sums[t][s] += dot_pairs(bytes[t] + s * kPanel, pair);
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

/// Visits the int8 tiles of two streams in the order of their positions in a stream, and at each position that of the
/// first stream first. So the order depends on positions alone. Tiles that are whole in both streams are visited in
/// pairs, by `two`: to multiply a tile takes as long as to read it from a single stream, and two streams, read
/// alternately, come from memory faster. Other tiles are visited by `one`.
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
[[gnu::always_inline]] inline void store_scores(const ColumnSums& sums, const float* scales, float query_scale,
                                                float* scores) {
  for (int s = 0; s < kColumnVectors; ++s) {
    const Batch factors = Batch::load_unaligned(scales + s * kLanes) * Batch(query_scale);
    (xsimd::to_float(sums[s]) * factors).store_unaligned(scores + s * kLanes);
  }
}

inline void score_stream(const I8Product& product, int stream, int begin, int end) {
  const StreamPair& keys = product.rows;
  for (int tile = begin / kI8TileColumns * kI8TileColumns; tile < end; tile += kI8TileColumns) {
    ColumnSums sums[1];
    dot_tiles<1>({product.query()}, {keys.i8(stream, tile)}, (product.dim + 1) / 2, sums);
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
    ColumnSums sums[2];
    dot_tiles<2>({product.query(), product.query()}, {keys.i8(0, tile), keys.i8(1, tile)}, (product.dim + 1) / 2, sums);
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
  const Batch zero(0.0F);
  I32Batch largest(0);
  HEED_KEEP_LOOP
  for (int j = 0; j < kI8TileValues; j += kLanes) {
    const Batch weight = Batch::load_unaligned(weights + j);
    const Batch product = xsimd::select(weight != zero, weight * Batch::load_unaligned(scales + j), zero);
    product.store_aligned(products + j);
    largest = xsimd::max(largest, magnitudes_of(product));
  }
  return largest_of_lanes(largest);
}

/// Quantizes the weights of a tile times its scales, in place of `own`, and returns their scale.
[[gnu::noinline]] inline float quantize_weights(const float* weights, const float* scales, float* own) {
  const float largest = multiply_scales(weights, scales, own);
  return quantize_to_i16(own, kI8TileValues, largest, largest_i16(kI8TileValues), reinterpret_cast<std::int16_t*>(own));
}

/// output[kI8TileColumns] += the dot products of kTiles tiles, times the scales of their weights.
template <int kTiles>
[[gnu::always_inline]] inline void add_columns(const ColumnSums (&sums)[kTiles], const float (&scales)[kTiles],
                                               float* output) {
  for (int s = 0; s < kColumnVectors; ++s) {
    Batch sum = Batch::load_aligned(output + s * kLanes);
    for (int t = 0; t < kTiles; ++t) sum = multiply_add(xsimd::to_float(sums[t][s]), Batch(scales[t]), sum);
    sum.store_aligned(output + s * kLanes);
  }
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
    const float scale = quantize_weights(given, values.of[stream].scale + tile, own);
    const std::int8_t* const bytes = values.i8(stream, tile);
    for (int e = 0; e < product.dim; e += kI8TileColumns) {
      ColumnSums sums[1];
      dot_tiles<1>({reinterpret_cast<const std::int16_t*>(own)}, {bytes + e * kI8TileValues}, (stop - tile + 1) / 2,
                   sums);
      add_columns<1>(sums, {scale}, product.results + e);
    }
  }
}

inline void add_two_streams(const I8Product& product, int begin, int end) {
  const StreamPair& values = product.rows;
  for (int tile = begin; tile < end; tile += kI8TileValues) {
    alignas(kScratchAlignment) float own[2][kI8TileValues];
    float weight_scales[2];
    HEED_KEEP_LOOP
    for (int t = 0; t < 2; ++t) {
      weight_scales[t] =
          quantize_weights(product.weights() + values.position(t, tile), values.of[t].scale + tile, own[t]);
    }
    const std::int8_t* const first = values.i8(0, tile);
    const std::int8_t* const second = values.i8(1, tile);
    for (int e = 0; e < product.dim; e += kI8TileColumns) {
      ColumnSums sums[2];
      dot_tiles<2>({reinterpret_cast<const std::int16_t*>(own[0]), reinterpret_cast<const std::int16_t*>(own[1])},
                   {first + e * kI8TileValues, second + e * kI8TileValues}, kI8TileValues / 2, sums);
      add_columns<2>(sums, weight_scales, product.results + e);
    }
  }
}

/// output[dim] += weights x values, with room up to a whole sixteen.
inline void add_i8_values(const float* weights, const StreamPair& values, int dim, float* output) {
  for_each_tile_pair({weights, 1.0F, values, dim, output}, kI8TileValues, &add_stream, &add_two_streams);
}

}  // namespace heed::kernels
