// The two products of attention for a few rows that read the same keys: their queries with keys, and their
// weights with values. Head dimensions lie in lanes. Memory is what such rows wait for, so lines are read
// as a whole, a single row's by turns from two runs, and each once for up to four rows.
//
// The way that one row takes through memory changes no bit of it; whether it shares its keys with others may.
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
  Runs keys;  // of several rows in one run
  RowNumbers scores;
  std::ptrdiff_t unit;  // where a row has its query's unit, if it has one; counted from the query

  [[nodiscard]] Lines lines() const { return {keys.floats(0, keys.first), keys.stride}; }
  [[nodiscard]] int count() const { return keys.count; }
};

/// Weights of rows against values: aligned outputs, with room up to a whole vector.
struct RowSums {
  RowNumbers weights;
  Runs values;  // likewise
  int value_dim;
  bool selects;  // a weight of zero leaves its value out: heeded by add_values_to_row() alone
  RowNumbers outputs;

  [[nodiscard]] Lines lines() const { return {values.floats(0, values.first), values.stride}; }
  [[nodiscard]] int count() const { return values.count; }
};

/// Partial sums of one row's dot product, by turns, so that they need not wait for each other; several rows
/// have others to wait for.
inline constexpr int kDotSums = 4;
inline constexpr int kDotSumsOfRows = 2;

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

/// Dot products of `query` with kKeys keys, whose lanes are still to be summed.
template <class Arch, int kKeys>
[[gnu::always_inline]] inline void multiply_keys(const float* query, int head_dim, const float* const (&keys)[kKeys],
                                                 Batch<Arch>* results) {
  constexpr int lanes = kLanes<Arch>;
  Batch<Arch> sums[kKeys][kDotSums];
  for (auto& key : sums) {
    for (Batch<Arch>& sum : key) sum = Batch<Arch>(0.0F);
  }
  const auto add = [&](int d, int s, auto load) {
    const Batch<Arch> numbers = Batch<Arch>::load_aligned(query + d);
    for (int k = 0; k < kKeys; ++k) sums[k][s] = multiply_add<Arch>(load(keys[k] + d), numbers, sums[k][s]);
  };
  int d = 0;
  for (; d + kDotSums * lanes <= head_dim; d += kDotSums * lanes) {
    for (int s = 0; s < kDotSums; ++s) {
      add(d + s * lanes, s, [](const float* numbers) { return Batch<Arch>::load_unaligned(numbers); });
    }
  }
  for (; d < head_dim; d += lanes) {
    const int count = head_dim - d < lanes ? head_dim - d : lanes;
    add(d, 0, [count](const float* numbers) { return load_some<Arch>(numbers, count); });
  }
  for (int k = 0; k < kKeys; ++k) results[k] = (sums[k][0] + sums[k][1]) + (sums[k][2] + sums[k][3]);
}

/// Bytes of a line up to which two of a run come at once, so that a query is loaded, and an output loaded and stored,
/// once for both: memory brings longer ones that are read by turns half as fast.
inline constexpr int kShortLine = 384;

/// Scores of one row, a vector of keys of each run by turns, of which kKeys at a time meet the query.
template <class Arch, int kKeys>
[[gnu::noinline]] void score_row_by(const RowDots& input) {
  constexpr int lanes = kLanes<Arch>;
  for (const Stretch& stretch : stretches_of(input.keys)) {
    for (int at = stretch.begin; at < stretch.end; at += lanes) {
      for (int run = stretch.first_run; run < stretch.end_run(); ++run) {
        const FewLines few = stretch.few(run, at, lanes);
        Batch<Arch> square[lanes];
        for (int i = 0; i < lanes; i += kKeys) {
          const float* keys[kKeys];
          for (int k = 0; k < kKeys; ++k) keys[k] = input.keys.floats(run, few.line(i + k));
          multiply_keys<Arch, kKeys>(input.queries.numbers, input.head_dim, keys, square + i);
        }
        store_some<Arch>(sum_lanes<Arch>(square), input.scores.numbers + input.keys.place(run, at), few.count);
      }
    }
  }
}

/// The same.
template <class Arch>
void score_row(const RowDots& input) {
  if (input.head_dim <= kShortLine / 4) return score_row_by<Arch, 2>(input);
  score_row_by<Arch, 1>(input);
}

/// Scores of kRows rows, key after key.
template <class Arch, int kRows>
void score_rows(const RowDots& input) {
  constexpr int lanes = kLanes<Arch>;
  constexpr int keys = lanes / kRows;
  const float* const queries = input.queries.numbers;
  const std::ptrdiff_t query_stride = input.queries.stride;
  const Lines lines = input.lines();
  const int count = input.count();
  alignas(kScratchAlignment) float scores[lanes];
  for (int j = 0; j < count; j += keys) {
    Batch<Arch> square[lanes];
    for (int k = 0; k < keys; ++k) {
      const float* const key = lines.line(j + k < count ? j + k : count - 1);
      Batch<Arch> sums[kRows][kDotSumsOfRows];
      for (auto& row : sums) row[0] = row[1] = Batch<Arch>(0.0F);
      const auto add = [&](int d, int s, Batch<Arch> numbers) {
        for (int r = 0; r < kRows; ++r) {
          const Batch<Arch> query = Batch<Arch>::load_aligned(queries + r * query_stride + d);
          sums[r][s] = multiply_add<Arch>(numbers, query, sums[r][s]);
        }
      };
      int d = 0;
      for (; d + kDotSumsOfRows * lanes <= input.head_dim; d += kDotSumsOfRows * lanes) {
        add(d, 0, Batch<Arch>::load_unaligned(key + d));
        add(d + lanes, 1, Batch<Arch>::load_unaligned(key + d + lanes));
      }
      for (; d < input.head_dim; d += lanes) {
        add(d, 0, load_some<Arch>(key + d, input.head_dim - d < lanes ? input.head_dim - d : lanes));
      }
      for (int r = 0; r < kRows; ++r) square[k * kRows + r] = sums[r][0] + sums[r][1];
    }
    sum_lanes<Arch>(square).store_aligned(scores);
    const int given = count - j < keys ? count - j : keys;
    for (int r = 0; r < kRows; ++r) {
      float* const row = input.scores.from(r).numbers + j;
      for (int k = 0; k < given; ++k) row[k] = scores[k * kRows + r];
    }
  }
}

/// outputs[value_dim] of kRows rows += weights x values; two vectors of a line at a time.
template <class Arch, int kRows>
void add_values_to_rows(const RowSums& input) {
  constexpr int lanes = kLanes<Arch>;
  constexpr std::ptrdiff_t next = lanes;
  constexpr int kVectors = 2;
  const Lines values = input.lines();
  for (int e = 0; e < input.value_dim; e += kVectors * lanes) {
    const int left = input.value_dim - e;
    const bool is_whole = left >= kVectors * lanes;
    Batch<Arch> sums[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      const float* const output = input.outputs.from(r).numbers + e;
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = v * lanes < left ? Batch<Arch>::load_aligned(output + v * next) : Batch<Arch>(0.0F);
      }
    }
    const auto add = [&](auto load) {
      for (int j = 0; j < input.count(); ++j) {
        const float* const value = values.line(j) + e;
        Batch<Arch> numbers[kVectors];
        for (int v = 0; v < kVectors; ++v) numbers[v] = load(value, v);
        for (int r = 0; r < kRows; ++r) {
          const Batch<Arch> weight = Batch<Arch>::broadcast(input.weights.from(r).numbers[j]);
          for (int v = 0; v < kVectors; ++v) sums[r][v] = multiply_add<Arch>(weight, numbers[v], sums[r][v]);
        }
      }
    };
    if (is_whole) {
      add([](const float* value, int v) { return Batch<Arch>::load_unaligned(value + v * next); });
    } else {
      add([left](const float* value, int v) {
        const int count = left - v * lanes;
        return count <= 0 ? Batch<Arch>(0.0F) : load_some<Arch>(value + v * next, count < lanes ? count : lanes);
      });
    }
    for (int r = 0; r < kRows; ++r) {
      float* const output = input.outputs.from(r).numbers + e;
      for (int v = 0; v < kVectors && v * lanes < left; ++v) sums[r][v].store_aligned(output + v * next);
    }
  }
}

/// output[value_dim] += weights x kLines lines of values, for which it is loaded and stored once.
template <class Arch, int kLines>
[[gnu::noinline]] void add_lines(const float* const* lines, const float* weights, int value_dim, float* output) {
  constexpr int lanes = kLanes<Arch>;
  // Where output is written, the compiler would look for the lines once more.
  const float* own[kLines];
  Batch<Arch> factors[kLines];
  for (int n = 0; n < kLines; ++n) {
    own[n] = lines[n];
    factors[n] = Batch<Arch>::broadcast(weights[n]);
  }
  const auto add = [&](int e, auto load) {
    Batch<Arch> sum = Batch<Arch>::load_aligned(output + e);
    for (int n = 0; n < kLines; ++n) sum = multiply_add<Arch>(factors[n], load(own[n] + e), sum);
    sum.store_aligned(output + e);
  };
  int e = 0;
  for (; e + lanes <= value_dim; e += lanes) {
    add(e, [](const float* numbers) { return Batch<Arch>::load_unaligned(numbers); });
  }
  if (e < value_dim) add(e, [=](const float* numbers) { return load_some<Arch>(numbers, value_dim - e); });
}

/// The same of all lines, for one row, kLines at a time. If it selects, a weight of zero leaves its value out, whatever
/// that is.
template <class Arch, int kLines>
[[gnu::noinline]] void add_values_to_row_by(const RowSums& input) {
  for (const Stretch& stretch : stretches_of(input.values)) {
    for (int at = stretch.begin; at < stretch.end; at += stretch.step(kLines)) {
      const LinesAtOnce some = stretch.at_once(at, kLines);
      const float* lines[kLines];
      float weights[kLines];
      for (int n = 0; n < some.count; ++n) {
        lines[n] = input.values.floats(some.run(n), some.line(n));
        weights[n] = input.weights.numbers[input.values.place(some.run(n), some.line(n))];
      }
      if (some.count == kLines && !input.selects) {
        add_lines<Arch, kLines>(lines, weights, input.value_dim, input.outputs.numbers);
        continue;
      }
      for (int n = 0; n < some.count; ++n) {
        if (input.selects && weights[n] == 0.0F) continue;
        add_lines<Arch, 1>(lines + n, weights + n, input.value_dim, input.outputs.numbers);
      }
    }
  }
}

/// The same.
template <class Arch>
void add_values_to_row(const RowSums& input) {
  if (input.value_dim <= kShortLine / 4) return add_values_to_row_by<Arch, 2 * kRuns>(input);
  add_values_to_row_by<Arch, kRuns>(input);
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

/// Scores of all rows.
template <class Arch>
inline void score_all_rows(int rows, const RowDots& input) {
  static constexpr void (*kWays[])(const RowDots&) = {&score_row<Arch>, &score_rows<Arch, 2>, &score_rows<Arch, 4>};
  score_by_ways(rows, kWays, input);
}

/// outputs += weights x values, of all rows.
template <class Arch>
inline void add_values_to_all_rows(int rows, const RowSums& input) {
  static constexpr void (*kWays[])(const RowSums&) = {&add_values_to_row<Arch>, &add_values_to_rows<Arch, 2>,
                                                      &add_values_to_rows<Arch, 4>};
  add_by_ways(rows, kWays, input);
}

/// output[value_dim] *= factor, in whole vectors.
template <class Arch>
inline void scale_output(Batch<Arch> factor, int value_dim, float* output) {
  for (int e = 0; e < value_dim; e += kLanes<Arch>) {
    (Batch<Arch>::load_aligned(output + e) * factor).store_aligned(output + e);
  }
}

}  // namespace heed::kernels
