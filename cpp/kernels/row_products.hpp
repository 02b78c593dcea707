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

/// Dot products of `query` with kKeys keys, whose lanes are still to be summed: of two sums each, by turns, so that
/// they need not wait for each other.
template <class Arch, int kKeys>
[[gnu::always_inline]] inline void multiply_keys(const float* query, int head_dim, const float* (&keys)[kKeys],
                                                 Batch<Arch>* const (&results)[kKeys]) {
  constexpr std::ptrdiff_t lanes = kLanes<Arch>;
  Batch<Arch> sums[kKeys][2];
  for (auto& key : sums) key[0] = key[1] = Batch<Arch>(0.0F);
  const auto add = [&](int s, auto load) {
    const Batch<Arch> numbers = Batch<Arch>::load_aligned(query + s * lanes);
    for (int k = 0; k < kKeys; ++k) sums[k][s] = multiply_add<Arch>(load(keys[k] + s * lanes), numbers, sums[k][s]);
  };
  const float* const end = query + head_dim;
  for (const float* const end_of_turns = end - head_dim % (2 * lanes); query < end_of_turns; query += 2 * lanes) {
    for (int s = 0; s < 2; ++s) {
      add(s, [](const float* numbers) { return Batch<Arch>::load_unaligned(numbers); });
    }
    for (const float*& key : keys) key += 2 * lanes;
  }
  if constexpr (kKeys == 1) {
    for (; query < end; query += lanes, keys[0] += lanes) {
      const int count = end - query < lanes ? static_cast<int>(end - query) : kLanes<Arch>;
      add(0, [count](const float* numbers) { return load_some<Arch>(numbers, count); });
    }
  }
  for (int k = 0; k < kKeys; ++k) *results[k] = sums[k][0] + sums[k][1];
}

/// Bytes of a line up to which more than one of a place come at once, so that queries are loaded, and outputs loaded
/// and stored, less often: memory brings longer ones that are read by turns half as fast.
inline constexpr std::ptrdiff_t kShortLine = 384;

/// A query as keys meet it.
struct RowQuery {
  const float* numbers;
  int dim;
  const float* unit;  // of its products with halves
};

/// Scores of lines that follow on each other, `stride` bytes apart.
using ScoreLines = void(const RowQuery& query, const char* first, std::ptrdiff_t stride, int count, float* scores);
/// Scores of `count` vectors of keys, two vectors at a time; of whole pairs of vectors of numbers.
using ScoreTwos = void(const RowQuery& query, Walk<const char> keys, std::ptrdiff_t stride, int count,
                       Walk<float> scores);

/// How keys of one precision meet a query.
struct ScoreWay {
  std::ptrdiff_t bytes;  // of a number
  int vector;            // keys whose scores are stored together
  ScoreLines* lines;
  ScoreTwos* twos;
};

/// Scores of one row: of short lines two vectors of keys at a time, from two places, of others a vector.
[[gnu::noinline]] static inline void score_row_by(const RowDots& input, const ScoreWay& way) {
  const Runs& keys = input.keys;
  const std::ptrdiff_t stride = keys.stride * way.bytes;
  const RowQuery query{input.queries.numbers, input.head_dim, input.queries.numbers + input.unit};
  const bool come_by_twos = query.dim * way.bytes <= kShortLine && query.dim % (2 * way.vector) == 0;
  const auto lines_of = [&](int run, int at) { return keys.line(run, at, way.bytes); };
  const auto scores_of = [&](int run, int at) { return input.scores.numbers + keys.place(run, at); };
  for (const Stretch& stretch : stretches_of(keys)) {
    const Turns turns = stretch.turns(way.vector, come_by_twos ? 2 : 1);
    auto lines = walk_of(turns, stride, lines_of);
    auto scores = walk_of(turns, 1, scores_of);
    if (come_by_twos) {
      way.twos(query, lines, stride, turns.count, scores);
    } else {
      for (int i = 0; i < turns.count; ++i) way.lines(query, lines.take(), stride, way.vector, scores.take());
    }
    const Stretch rest = stretch.behind(turns, way.vector);
    for (int run = rest.first_run; run < rest.end_run(); ++run) {
      way.lines(query, lines_of(run, rest.begin), stride, rest.end - rest.begin, scores_of(run, rest.begin));
    }
  }
}

/// See ScoreLines.
template <class Arch>
[[gnu::noinline]] void score_lines(const RowQuery& query, const char* first, std::ptrdiff_t stride, int count,
                                   float* scores) {
  constexpr int lanes = kLanes<Arch>;
  for (int j = 0; j < count; j += lanes) {
    const int given = count - j < lanes ? count - j : lanes;
    Batch<Arch> square[lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; ++i) {
      square[i] = Batch<Arch>(0.0F);
      const float* key[] = {reinterpret_cast<const float*>(first + (j + i) * stride)};
      if (i < given) multiply_keys<Arch, 1>(query.numbers, query.dim, key, {square + i});
    }
    store_some<Arch>(sum_lanes<Arch>(square), scores + j, given);
  }
}

/// Keys that meet the query at once where lines are short: two of each of two places.
inline constexpr int kKeysAtOnce = 2 * kRuns;

/// See ScoreTwos.
template <class Arch>
[[gnu::noinline]] void score_twos(const RowQuery& query, Walk<const char> keys, std::ptrdiff_t stride, int count,
                                  Walk<float> scores) {
  constexpr int lanes = kLanes<Arch>;
  const float* const numbers = query.numbers;
  const int dim = query.dim;
  for (int vector = 0; vector < count; vector += 2) {
    const char* next[] = {keys.take(), keys.take()};
    Batch<Arch> square[2][lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; i += 2) {
      const float* some[kKeysAtOnce];
      Batch<Arch>* results[kKeysAtOnce];
      for (int k = 0; k < kKeysAtOnce; ++k) {
        some[k] = reinterpret_cast<const float*>(next[k / 2]);
        next[k / 2] += stride;
        results[k] = &square[k / 2][i + k % 2];
      }
      multiply_keys<Arch, kKeysAtOnce>(numbers, dim, some, results);
    }
    for (auto& one : square) sum_lanes<Arch>(one).store_unaligned(scores.take());
  }
}

/// Scores of one row.
template <class Arch>
void score_row(const RowDots& input) {
  score_row_by(input, {sizeof(float), kLanes<Arch>, &score_lines<Arch>, &score_twos<Arch>});
}

/// Sums of the products of kRows rows with kKeys keys, each of kParts parts, by turns: as many as there are registers
/// for, so that none waits for another.
template <class Arch, int kRows, int kKeys, int kParts>
class RowsByKeys {
 public:
  RowsByKeys() {
    for (Batch<Arch>& sum : sums_) sum = Batch<Arch>(0.0F);
  }

  /// A vector of each key, and of each row's query.
  [[gnu::always_inline]] void add(int part, const Batch<Arch> (&keys)[kKeys], const float* queries,
                                  std::ptrdiff_t stride) {
    for (int r = 0; r < kRows; ++r) {
      const Batch<Arch> query = Batch<Arch>::load_aligned(queries + r * stride);
      for (int k = 0; k < kKeys; ++k) {
        Batch<Arch>& sum = sums_[(part * kRows + r) * kKeys + k];
        sum = multiply_add<Arch>(keys[k], query, sum);
      }
    }
  }

  /// Leaves them in `room`, and starts again from zero.
  [[gnu::always_inline]] void park(float* room) {
    for (int i = 0; i < kSums; ++i) {
      sums_[i].store_aligned(room + i * kLanes<Arch>);
      sums_[i] = Batch<Arch>(0.0F);
    }
  }
  /// Adds what was left there.
  [[gnu::always_inline]] void recall(const float* room) {
    for (int i = 0; i < kSums; ++i) sums_[i] += Batch<Arch>::load_aligned(room + i * kLanes<Arch>);
  }

  /// What they add up to, times unit_of(row), as scores of the first `count` keys.
  template <class Unit>
  [[gnu::always_inline]] void store(int count, Unit unit_of, RowNumbers scores) {
    constexpr int lanes = kLanes<Arch>;
    for (int first = 0; first < kDots; first += lanes) {
      Batch<Arch> square[lanes];
      for (int i = 0; i < lanes; ++i) {
        square[i] = first + i < kDots ? sums_[first + i] : Batch<Arch>(0.0F);
        for (int part = 1; part < kParts && first + i < kDots; ++part) square[i] += sums_[part * kDots + first + i];
      }
      alignas(kScratchAlignment) float dots[lanes];
      sum_lanes<Arch>(square).store_aligned(dots);
      for (int i = 0; i < lanes && first + i < kDots; ++i) {
        const int row = (first + i) / kKeys;
        const int key = (first + i) % kKeys;
        if (key < count) scores.from(row).numbers[key] = dots[i] * unit_of(row);
      }
    }
  }

 private:
  static constexpr int kDots = kRows * kKeys;
  static constexpr int kSums = kParts * kDots;
  Batch<Arch> sums_[kSums];
};

/// Scores of kRows rows, kKeys at a time.
template <class Arch, int kRows, int kKeys>
[[gnu::noinline]] void score_rows_by(const RowDots& input) {
  constexpr int lanes = kLanes<Arch>;
  constexpr int parts = kKeys == 1 ? 2 : 1;
  const RowNumbers queries = input.queries;
  const Lines lines = input.lines();
  const int count = input.count();
  const int dim = input.head_dim;
  for (int j = 0; j < count; j += kKeys) {
    RowsByKeys<Arch, kRows, kKeys, parts> sums;
    const float* some[kKeys];
    // Behind them the last once more.
    for (int k = 0; k < kKeys; ++k) some[k] = lines.line(j + k < count ? j + k : count - 1);
    const auto add = [&](int d, int part, auto load) {
      Batch<Arch> numbers[kKeys];
      for (int k = 0; k < kKeys; ++k) numbers[k] = load(some[k] + d);
      sums.add(part, numbers, queries.numbers + d, queries.stride);
    };
    int d = 0;
    for (; d + parts * lanes <= dim; d += parts * lanes) {
      for (int part = 0; part < parts; ++part) {
        add(d + part * lanes, part, [](const float* number) { return Batch<Arch>::load_unaligned(number); });
      }
    }
    for (; d < dim; d += lanes) {
      add(d, 0, [=](const float* number) { return load_some<Arch>(number, dim - d < lanes ? dim - d : lanes); });
    }
    sums.store(count - j, [](int) { return 1.0F; }, {input.scores.numbers + j, input.scores.stride});
  }
}

/// Scores of kRows rows.
template <class Arch, int kRows>
void score_rows(const RowDots& input) {
  // Two keys of two rows would need no fewer loads than they have products.
  if constexpr (kRows == 4) {
    if (input.head_dim * std::ptrdiff_t{sizeof(float)} <= kShortLine) return score_rows_by<Arch, kRows, 2>(input);
  }
  score_rows_by<Arch, kRows, 1>(input);
}

/// Lines of values that come at once for several rows: for four of them there are registers for eight weights.
inline constexpr int kLinesOfRows = 2;

/// A vector of an output += factors x numbers, of a few lines.
template <class Arch, int kLines>
[[gnu::always_inline]] inline void add_products(const Batch<Arch> (&factors)[kLines],
                                                const Batch<Arch> (&numbers)[kLines], float* output) {
  Batch<Arch> sum = Batch<Arch>::load_aligned(output);
  for (int n = 0; n < kLines; ++n) sum = multiply_add<Arch>(factors[n], numbers[n], sum);
  sum.store_aligned(output);
}

/// outputs[value_dim] of kRows rows += weights x `groups` of kLines lines each, from line `first` on.
template <class Arch, int kRows, int kLines>
[[gnu::noinline]] void add_lines_to_rows(const RowSums& input, int first, int groups) {
  constexpr int lanes = kLanes<Arch>;
  const Lines values = input.lines();
  const RowNumbers outputs = input.outputs;
  const int dim = input.value_dim;
  for (int group = 0; group < groups; ++group) {
    const int line = first + group * kLines;
    const Lines lines = values.from(line);
    Batch<Arch> factors[kRows][kLines];
    for (int r = 0; r < kRows; ++r) {
      const float* const weights = input.weights.from(r).numbers + line;
      for (int n = 0; n < kLines; ++n) factors[r][n] = Batch<Arch>::broadcast(weights[n]);
    }
    const auto add = [&](int e, auto load) {
      Batch<Arch> numbers[kLines];
      for (int n = 0; n < kLines; ++n) numbers[n] = load(lines.line(n) + e);
      for (int r = 0; r < kRows; ++r) add_products<Arch>(factors[r], numbers, outputs.from(r).numbers + e);
    };
    int e = 0;
    for (; e + lanes <= dim; e += lanes)
      add(e, [](const float* number) { return Batch<Arch>::load_unaligned(number); });
    if (e < dim) add(e, [=](const float* number) { return load_part<Arch>(number, dim - e); });
  }
}

/// outputs[value_dim] of kRows rows += weights x values.
template <class Arch, int kRows>
void add_values_to_rows(const RowSums& input) {
  constexpr int at_once = kLinesOfRows;
  const bool are_short = input.value_dim * std::ptrdiff_t{sizeof(float)} <= kShortLine;
  const int groups = are_short ? input.count() / at_once : 0;
  const int done = groups * at_once;
  add_lines_to_rows<Arch, kRows, at_once>(input, 0, groups);
  add_lines_to_rows<Arch, kRows, 1>(input, done, input.count() - done);
}

/// output[dim] += weights x `groups` of a few lines each of values, for each of which it is loaded and stored once.
using AddLines = void(Walk<const char> values, Walk<const float> weights, int groups, int dim, float* output);

/// How values of one precision are added: so many lines at once.
struct AddWay {
  std::ptrdiff_t bytes;  // of a number
  AddLines* one;
  AddLines* two;
  AddLines* four;
};

/// output += weights x values of one row, in the order of the lines' places: of short ones two at once from each of two
/// places, of long ones one. If it selects, a weight of zero leaves its value out, whatever that is.
[[gnu::noinline]] static inline void add_row_by(const RowSums& input, bool selects, const AddWay& way) {
  const Runs& values = input.values;
  const int dim = input.value_dim;
  float* const output = input.outputs.numbers;
  const float* const weights = input.weights.numbers;
  const auto lines_of = [&](int run, int at) { return values.line(run, at, way.bytes); };
  const auto weights_of = [&](int run, int at) { return weights + values.place(run, at); };
  for (const Stretch& stretch : stretches_of(values)) {
    Stretch rest = stretch;
    if (!selects) {
      const int at_once = dim * way.bytes <= kShortLine ? 2 * kRuns : stretch.runs;
      const Turns turns = stretch.turns(1, at_once);
      AddLines* const add = at_once == 4 ? way.four : (at_once == 2 ? way.two : way.one);
      add(walk_of(turns, values.stride * way.bytes, lines_of), walk_of(turns, 1, weights_of), turns.count / at_once,
          dim, output);
      rest = stretch.behind(turns, 1);
    }
    for (int at = rest.begin; at < rest.end; ++at) {
      for (int run = rest.first_run; run < rest.end_run(); ++run) {
        const float* const weight = weights_of(run, at);
        if (selects && *weight == 0.0F) continue;
        const char* const line = lines_of(run, at);
        way.one({line, line, 0}, {weight, weight, 0}, 1, dim, output);
      }
    }
  }
}

/// See AddLines.
template <class Arch, int kLines>
[[gnu::noinline]] void add_lines(Walk<const char> values, Walk<const float> weights, int groups, int dim,
                                 float* output) {
  constexpr int lanes = kLanes<Arch>;
  float* const end = output + dim;
  float* const whole_end = end - dim % lanes;
  for (int group = 0; group < groups; ++group) {
    const float* lines[kLines];
    Batch<Arch> factors[kLines];
    for (int n = 0; n < kLines; ++n) {
      lines[n] = reinterpret_cast<const float*>(values.take());
      factors[n] = Batch<Arch>::broadcast(*weights.take());
    }
    const auto add = [&](float* place, auto load) {
      Batch<Arch> sum = Batch<Arch>::load_aligned(place);
      for (int n = 0; n < kLines; ++n) sum = multiply_add<Arch>(factors[n], load(lines[n]), sum);
      sum.store_aligned(place);
    };
    float* place = output;
    for (; place < whole_end; place += lanes) {
      add(place, [](const float* numbers) { return Batch<Arch>::load_unaligned(numbers); });
      for (const float*& line : lines) line += lanes;
    }
    if (place < end) add(place, [=](const float* numbers) { return load_part<Arch>(numbers, dim % lanes); });
  }
}

/// output += weights x values of one row.
template <class Arch>
void add_values_to_row(const RowSums& input) {
  add_row_by(input, input.selects, {sizeof(float), &add_lines<Arch, 1>, &add_lines<Arch, 2>, &add_lines<Arch, 4>});
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
