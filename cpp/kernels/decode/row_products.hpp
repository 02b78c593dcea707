// The two products of decode: queries with keys, and weights with values. Head dimensions lie in lanes. Decode is
// memory-bound, so rows of K and V are read whole, interleaved from two streams (interleave.hpp), and once for up to
// four queries.
//
// The order of reading changes no bit of a query; whether the query shares its keys with others may.
#pragma once

#include <cstddef>

#include "kernels/decode/streams.hpp"
#include "kernels/gemm/register_tile.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// Rows that lie `stride` numbers apart.
struct StridedRows {
  float* numbers;
  std::ptrdiff_t stride;

  [[nodiscard]] StridedRows from(int row) const { return {numbers + row * stride, stride}; }
};

/// Queries and the keys that they are multiplied with.
struct QueryKeyDots {
  StridedRows queries;  // aligned, zeros up to a whole vector
  int head_dim;
  StreamPair keys;
  StridedRows scores;
  std::ptrdiff_t scale_offset;  // where a row keeps the scale of its query, if it has one; counted from the query

  /// The keys, of one stream.
  [[nodiscard]] FloatRows rows() const { return {keys.f32(0, keys.first), keys.stride}; }
  [[nodiscard]] int count() const { return keys.count; }
};

/// Weights and the values that they multiply. Outputs are aligned, with room up to a whole vector.
struct ValueSums {
  StridedRows weights;
  StreamPair values;
  int value_dim;
  bool selects;  // a weight of zero leaves its value out; of one row alone
  StridedRows outputs;

  [[nodiscard]] int count() const { return values.count; }
};

/// result[i] = the sum of square[i]'s lanes. Uses up `square`.
[[gnu::always_inline]] inline Batch sum_lanes(Batch (&square)[kLanes]) {
  constexpr int lanes = kLanes;
  // xsimd gives the sums of sixteen in another order.
  if constexpr (lanes < 16) return xsimd::haddp(square);
  xsimd::transpose(square, square + lanes);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) square[i] += square[i + half];
  }
  return square[0];
}

/// Calls visit(first, loop) for groups of at most four rows; `loops` has one for groups of 1, 2 and 4. Through the
/// table each loop stays a function of its own: inlined into their caller, loops were a tenth slower in V8.
template <class Input, class Visit>
inline void for_each_row_group(int rows, void (*const (&loops)[3])(const Input&), Visit visit) {
  for (int row = 0; row < rows;) {
    const int left = rows - row;
    const int log = left >= 4 ? 2 : left / 2;
    visit(row, loops[log]);
    row += 1 << log;
  }
}

/// Scores of all queries, by as many at a time as there are loops for.
inline void score_by_query_count(int rows, void (*const (&loops)[3])(const QueryKeyDots&), const QueryKeyDots& input) {
  for_each_row_group(rows, loops, [&](int row, auto loop) {
    QueryKeyDots group = input;
    group.queries = input.queries.from(row);
    group.scores = input.scores.from(row);
    loop(group);
  });
}

/// outputs += weights x values for all rows, likewise.
inline void add_by_row_count(int rows, void (*const (&loops)[3])(const ValueSums&), const ValueSums& input) {
  for_each_row_group(rows, loops, [&](int row, auto loop) {
    ValueSums group = input;
    group.weights = input.weights.from(row);
    group.outputs = input.outputs.from(row);
    loop(group);
  });
}

/// output[value_dim] *= factor, in whole vectors.
inline void scale_output(Batch factor, int value_dim, float* output) {
  for (int e = 0; e < value_dim; e += kLanes) {
    (Batch::load_aligned(output + e) * factor).store_aligned(output + e);
  }
}

}  // namespace heed::kernels
