// The two products of attention for a few rows that read the same keys: their queries with keys, and their
// weights with values. Head dimensions lie in lanes. Memory is what such rows wait for, so lines are read
// as a whole, by turns from two places (line_walk.hpp), and each once for up to four rows.
//
// The way through memory changes no bit of a row; whether it shares its keys with others may.
#pragma once

#include <cstddef>

#include "kernels/broadcast_tile.hpp"
#include "kernels/runs.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// Rows of numbers, `stride` apart.
struct RowNumbers {
  float* numbers;
  std::ptrdiff_t stride;

  [[nodiscard]] RowNumbers from(int row) const { return {numbers + row * stride, stride}; }
};

/// Queries against keys.
struct RowDots {
  RowNumbers queries;  // aligned, zeros up to a whole vector
  int head_dim;
  Runs keys;
  RowNumbers scores;
  std::ptrdiff_t unit;  // where a row has its query's unit, if it has one; counted from the query

  /// Of keys of one run.
  [[nodiscard]] Lines lines() const { return {keys.floats(0, keys.first), keys.stride}; }
  [[nodiscard]] int count() const { return keys.count; }
};

/// Weights of rows against values: aligned outputs, with room up to a whole vector.
struct RowSums {
  RowNumbers weights;
  Runs values;
  int value_dim;
  bool selects;  // a weight of zero leaves its value out: of a row alone
  RowNumbers outputs;

  [[nodiscard]] int count() const { return values.count; }
};

/// result[i] = the sum of square[i]'s lanes. Uses up `square`.
template <class Arch>
[[gnu::always_inline]] inline Batch<Arch> sum_lanes(Batch<Arch> (&square)[kLanes<Arch>]) {
  constexpr int lanes = kLanes<Arch>;
  // xsimd gives the sums of sixteen in another order.
  if constexpr (lanes < 16) return xsimd::haddp(square);
  xsimd::transpose(square, square + lanes);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) square[i] += square[i + half];
  }
  return square[0];
}

/// Calls visit(first, way) for runs of at most four rows, `ways` by the logarithm of their number. Through the
/// table each way stays a function of its own: inlined into their caller, loops were a tenth slower in V8.
template <class Input, class Visit>
inline void for_each_run(int rows, void (*const (&ways)[3])(const Input&), Visit visit) {
  for (int row = 0; row < rows;) {
    const int left = rows - row;
    const int log = left >= 4 ? 2 : left / 2;
    visit(row, ways[log]);
    row += 1 << log;
  }
}

/// Scores of all rows, by as many at a time as there are ways for.
static inline void score_by_ways(int rows, void (*const (&ways)[3])(const RowDots&), const RowDots& input) {
  for_each_run(rows, ways, [&](int row, auto way) {
    RowDots run = input;
    run.queries = input.queries.from(row);
    run.scores = input.scores.from(row);
    way(run);
  });
}

/// outputs += weights x values, of all rows, likewise.
static inline void add_by_ways(int rows, void (*const (&ways)[3])(const RowSums&), const RowSums& input) {
  for_each_run(rows, ways, [&](int row, auto way) {
    RowSums run = input;
    run.weights = input.weights.from(row);
    run.outputs = input.outputs.from(row);
    way(run);
  });
}

/// output[value_dim] *= factor, in whole vectors.
template <class Arch>
inline void scale_output(Batch<Arch> factor, int value_dim, float* output) {
  for (int e = 0; e < value_dim; e += kLanes<Arch>) {
    (Batch<Arch>::load_aligned(output + e) * factor).store_aligned(output + e);
  }
}

}  // namespace heed::kernels
