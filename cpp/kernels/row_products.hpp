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

/// Dot products of `query` with kKeys keys, whose lanes are still to be summed: of kSums partial sums each, by turns,
/// so that they need not wait for each other.
template <class Arch, int kKeys, int kSums>
[[gnu::always_inline]] inline void multiply_keys(const float* query, int head_dim, const float* (&keys)[kKeys],
                                                 Batch<Arch>* const (&results)[kKeys]) {
  constexpr int lanes = kLanes<Arch>;
  Batch<Arch> sums[kKeys][kSums];
  for (auto& key : sums) {
    for (Batch<Arch>& sum : key) sum = Batch<Arch>(0.0F);
  }
  const auto add = [&](int s, auto load) {
    const Batch<Arch> numbers = Batch<Arch>::load_aligned(query + s * lanes);
    for (int k = 0; k < kKeys; ++k) sums[k][s] = multiply_add<Arch>(load(keys[k] + s * lanes), numbers, sums[k][s]);
  };
  const float* const end = query + head_dim;
  const float* const end_of_turns = query + head_dim / (kSums * lanes) * (kSums * lanes);
  for (; query < end_of_turns; query += kSums * lanes) {
    for (int s = 0; s < kSums; ++s) {
      add(s, [](const float* numbers) { return Batch<Arch>::load_unaligned(numbers); });
    }
    for (const float*& key : keys) key += kSums * lanes;
  }
  for (; query < end; query += lanes) {
    const std::ptrdiff_t left = end - query;
    const int count = left < lanes ? static_cast<int>(left) : lanes;
    add(0, [count](const float* numbers) { return load_some<Arch>(numbers, count); });
    for (const float*& key : keys) key += lanes;
  }
  for (int k = 0; k < kKeys; ++k) {
    Batch<Arch> sum = sums[k][0] + sums[k][1];
    if constexpr (kSums == 4) sum += sums[k][2] + sums[k][3];
    *results[k] = sum;
  }
}

/// Bytes of a line up to which two of a place come at once, so that a query is loaded, and an output loaded and stored,
/// less often: memory brings longer ones that are read by turns half as fast.
inline constexpr std::size_t kShortLine = 384;

[[nodiscard]] inline bool are_lines_short(int dim, std::size_t bytes) {
  return static_cast<std::size_t>(dim) * bytes <= kShortLine;
}

/// Partial sums of a score, where keys come from so many places at once, and as many from each.
template <int kAtOnce>
inline constexpr int kSumsOfScore = 4 / kAtOnce;

/// Scores of lines that follow on each other.
template <class Arch, int kAtOnce>
[[gnu::noinline]] void score_lines(const float* query, int head_dim, const Lines& keys, int count, float* scores) {
  constexpr int lanes = kLanes<Arch>;
  for (int j = 0; j < count; j += lanes) {
    const int given = count - j < lanes ? count - j : lanes;
    Batch<Arch> square[lanes];
    for (int i = 0; i < lanes; ++i) {
      square[i] = Batch<Arch>(0.0F);
      const float* key[] = {keys.line(j + i)};
      if (i < given) multiply_keys<Arch, 1, kSumsOfScore<kAtOnce>>(query, head_dim, key, {square + i});
    }
    store_some<Arch>(sum_lanes<Arch>(square), scores + j, given);
  }
}

/// Scores of `count` vectors of keys, kAtOnce vectors at a time, of each of which as many keys meet the query at once.
template <class Arch, int kAtOnce>
[[gnu::noinline]] void score_vectors(const float* query, int head_dim, Walk<const float> keys, std::ptrdiff_t stride,
                                     int count, Walk<float> scores) {
  constexpr int lanes = kLanes<Arch>;
  for (int vector = 0; vector < count; vector += kAtOnce) {
    const float* next[kAtOnce];
    for (const float*& key : next) key = keys.take();
    Batch<Arch> square[kAtOnce][lanes];
    for (int i = 0; i < lanes; i += kAtOnce) {
      const float* some[kAtOnce * kAtOnce];
      Batch<Arch>* results[kAtOnce * kAtOnce];
      for (int k = 0; k < kAtOnce * kAtOnce; ++k) {
        some[k] = next[k / kAtOnce];
        next[k / kAtOnce] += stride;
        results[k] = &square[k / kAtOnce][i + k % kAtOnce];
      }
      multiply_keys<Arch, kAtOnce * kAtOnce, kSumsOfScore<kAtOnce>>(query, head_dim, some, results);
    }
    for (auto& one : square) sum_lanes<Arch>(one).store_unaligned(scores.take());
  }
}

/// Scores of one row: score(turns, scores) where vectors of `unit` keys come at_once, and score_rest(run, at, count,
/// scores) of lines that are left.
template <class Score, class ScoreRest>
[[gnu::always_inline]] inline void score_in_turns(const RowDots& input, int unit, int at_once, Score score,
                                                  ScoreRest score_rest) {
  const auto scores_of = [&](int run, int at) { return input.scores.numbers + input.keys.place(run, at); };
  for (const Stretch& stretch : stretches_of(input.keys)) {
    const Turns turns = stretch.turns(unit, at_once);
    score(turns, walk_of(turns, 1, scores_of));
    const Stretch rest = stretch.behind(turns, unit);
    for (int run = rest.first_run; run < rest.end_run(); ++run) {
      score_rest(run, rest.begin, rest.end - rest.begin, scores_of(run, rest.begin));
    }
  }
}

template <class Arch, int kAtOnce>
void score_row_by(const RowDots& input) {
  const float* const query = input.queries.numbers;
  const Runs& keys = input.keys;
  const int dim = input.head_dim;
  score_in_turns(
      input, kLanes<Arch>, kAtOnce,
      [&](const Turns& turns, Walk<float> scores) {
        const auto walk = walk_of(turns, keys.stride, [&](int run, int at) { return keys.floats(run, at); });
        score_vectors<Arch, kAtOnce>(query, dim, walk, keys.stride, turns.count, scores);
      },
      [&](int run, int at, int count, float* scores) {
        score_lines<Arch, kAtOnce>(query, dim, {keys.floats(run, at), keys.stride}, count, scores);
      });
}

/// Scores of one row.
template <class Arch>
void score_row(const RowDots& input) {
  if (are_lines_short(input.head_dim, sizeof(float))) return score_row_by<Arch, 2>(input);
  score_row_by<Arch, 1>(input);
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
  if (are_lines_short(input.head_dim, sizeof(float))) return score_rows_by<Arch, kRows, 8 / kRows>(input);
  score_rows_by<Arch, kRows, 1>(input);
}

/// Lines of values that come at once for so many rows: there are registers for eight weights.
template <int kRows>
inline constexpr int kLinesOfRows = 8 / kRows;

/// The weights of kRows rows, of kLines lines at a time.
template <class Arch, int kRows, int kLines>
class WeightsOfLines {
 public:
  explicit WeightsOfLines(const RowSums& input) : weights_(input.weights) {}

  [[gnu::always_inline]] void load(int line, Batch<Arch> (&factors)[kRows][kLines]) const {
    for (int r = 0; r < kRows; ++r) {
      for (int n = 0; n < kLines; ++n) factors[r][n] = Batch<Arch>::broadcast(weights_.from(r).numbers[line + n]);
    }
  }

 private:
  RowNumbers weights_;
};

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
  const WeightsOfLines<Arch, kRows, kLines> weights(input);
  const Lines values = input.lines();
  const RowNumbers outputs = input.outputs;
  const int dim = input.value_dim;
  for (int group = 0; group < groups; ++group) {
    const Lines lines = values.from(first + group * kLines);
    Batch<Arch> factors[kRows][kLines];
    weights.load(first + group * kLines, factors);
    const auto add = [&](int e, auto load) {
      Batch<Arch> numbers[kLines];
      for (int n = 0; n < kLines; ++n) numbers[n] = load(lines.line(n) + e);
      for (int r = 0; r < kRows; ++r) add_products<Arch>(factors[r], numbers, outputs.from(r).numbers + e);
    };
    int e = 0;
    for (; e + lanes <= dim; e += lanes)
      add(e, [](const float* number) { return Batch<Arch>::load_unaligned(number); });
    if (e < dim) add(e, [=](const float* number) { return load_some<Arch>(number, dim - e); });
  }
}

/// outputs[value_dim] of kRows rows += weights x values.
template <class Arch, int kRows>
void add_values_to_rows(const RowSums& input) {
  constexpr int at_once = kLinesOfRows<kRows>;
  const int groups = are_lines_short(input.value_dim, sizeof(float)) ? input.count() / at_once : 0;
  const int done = groups * at_once;
  add_lines_to_rows<Arch, kRows, at_once>(input, 0, groups);
  add_lines_to_rows<Arch, kRows, 1>(input, done, input.count() - done);
}

/// output[value_dim] += weights x `groups` of kLines lines each of values, for each of which it is loaded and stored
/// once.
template <class Arch, int kLines>
[[gnu::noinline]] void add_lines(Walk<const float> values, Walk<const float> weights, int groups, int value_dim,
                                 float* output) {
  constexpr int lanes = kLanes<Arch>;
  float* const end = output + value_dim;
  float* const whole_end = output + value_dim / lanes * lanes;
  for (int group = 0; group < groups; ++group) {
    const float* lines[kLines];
    Batch<Arch> factors[kLines];
    for (int n = 0; n < kLines; ++n) {
      lines[n] = values.take();
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
    if (place < end) add(place, [=](const float* numbers) { return load_some<Arch>(numbers, value_dim % lanes); });
  }
}

/// The sums of one row, in the order of its lines' places: add(at_once, turns, weights) of so many lines at once, and
/// add_one(run, at, weight) of those that are left, or of all.
template <class Add, class AddOne>
[[gnu::always_inline]] inline void add_in_turns(const RowSums& input, bool are_short, bool one_by_one, Add add,
                                                AddOne add_one) {
  const float* const weights = input.weights.numbers;
  const auto weights_of = [&](int run, int at) { return weights + input.values.place(run, at); };
  for (const Stretch& stretch : stretches_of(input.values)) {
    const int at_once = are_short ? 2 * kRuns : stretch.runs;
    Stretch rest = stretch;
    if (!one_by_one) {
      const Turns turns = stretch.turns(1, at_once);
      add(at_once, turns, walk_of(turns, 1, weights_of));
      rest = stretch.behind(turns, 1);
    }
    for (int at = rest.begin; at < rest.end; ++at) {
      for (int run = rest.first_run; run < rest.end_run(); ++run) add_one(run, at, weights_of(run, at));
    }
  }
}

/// The same of values as they are. If it selects, a weight of zero leaves its value out, whatever that is.
template <class Arch>
void add_values_to_row(const RowSums& input) {
  const Runs& values = input.values;
  const int dim = input.value_dim;
  float* const output = input.outputs.numbers;
  const auto lines_of = [&](int run, int at) { return values.floats(run, at); };
  add_in_turns(
      input, are_lines_short(dim, sizeof(float)), input.selects,
      [&](int at_once, const Turns& turns, Walk<const float> weights) {
        const auto add =
            at_once == 4 ? &add_lines<Arch, 4> : (at_once == 2 ? &add_lines<Arch, 2> : &add_lines<Arch, 1>);
        add(walk_of(turns, values.stride, lines_of), weights, turns.count / at_once, dim, output);
      },
      [&](int run, int at, const float* weight) {
        if (input.selects && *weight == 0.0F) return;
        const float* const line = lines_of(run, at);
        add_lines<Arch, 1>({line, line, 0}, {weight, weight, 0}, 1, dim, output);
      });
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
