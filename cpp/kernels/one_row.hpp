// The products of a row that has its keys to itself: the walk over their lines, by turns from two places, whatever
// kind of numbers they are. A kind of keys or values, as in single_rows.hpp and half_rows.hpp, says what is done with
// whole lines.
#pragma once

#include "kernels/row_products.hpp"

namespace heed::kernels {

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
template <class Keys>
[[gnu::noinline]] void score_lines(const RowQuery& query, const char* first, std::ptrdiff_t stride, int count,
                                   float* scores) {
  using Arch = typename Keys::Arch;
  constexpr int lanes = kLanes<Arch>;
  const Keys keys(query);
  for (int j = 0; j < count; j += lanes) {
    const int given = count - j < lanes ? count - j : lanes;
    Batch<Arch> square[lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; ++i) {
      square[i] = Batch<Arch>(0.0F);
      const typename Keys::Number* key[] = {reinterpret_cast<const typename Keys::Number*>(first + (j + i) * stride)};
      if (i < given) keys.multiply(query.numbers, query.dim, key, {square + i});
    }
    store_some<Arch>(keys.scores(sum_lanes<Arch>(square)), scores + j, given);
  }
}

/// Keys that meet the query at once where lines are short: two of each of two places.
inline constexpr int kKeysAtOnce = 2 * kRuns;

/// See ScoreTwos.
template <class Keys>
[[gnu::noinline]] void score_twos(const RowQuery& query, Walk<const char> walk, std::ptrdiff_t stride, int count,
                                  Walk<float> scores) {
  using Arch = typename Keys::Arch;
  constexpr int lanes = kLanes<Arch>;
  const Keys keys(query);
  const float* const numbers = query.numbers;
  const int dim = query.dim;
  for (int vector = 0; vector < count; vector += 2) {
    const char* next[] = {walk.take(), walk.take()};
    Batch<Arch> square[2][lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; i += 2) {
      const typename Keys::Number* some[kKeysAtOnce];
      Batch<Arch>* results[kKeysAtOnce];
      for (int k = 0; k < kKeysAtOnce; ++k) {
        some[k] = reinterpret_cast<const typename Keys::Number*>(next[k / 2]);
        next[k / 2] += stride;
        results[k] = &square[k / 2][i + k % 2];
      }
      keys.multiply(numbers, dim, some, results);
    }
    for (auto& one : square) keys.scores(sum_lanes<Arch>(one)).store_unaligned(scores.take());
  }
}

/// Scores of one row.
template <class Keys>
void score_row(const RowDots& input) {
  score_row_by(input,
               {sizeof(typename Keys::Number), kLanes<typename Keys::Arch>, &score_lines<Keys>, &score_twos<Keys>});
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
template <class Values, int kLines>
[[gnu::noinline]] void add_lines(Walk<const char> walk, Walk<const float> weights, int groups, int dim, float* output) {
  using Arch = typename Values::Arch;
  const Values values;
  for (int group = 0; group < groups; ++group) {
    const typename Values::Number* lines[kLines];
    Batch<Arch> factors[kLines];
    for (int n = 0; n < kLines; ++n) {
      lines[n] = reinterpret_cast<const typename Values::Number*>(walk.take());
      factors[n] = Batch<Arch>::broadcast(*weights.take());
    }
    values.add(factors, lines, dim, output);
  }
}

/// output += weights x values of one row.
template <class Values>
void add_to_row(const RowSums& input) {
  add_row_by(input, input.selects && !Values::kAreFinite,
             {sizeof(typename Values::Number), &add_lines<Values, 1>, &add_lines<Values, 2>, &add_lines<Values, 4>});
}

}  // namespace heed::kernels
