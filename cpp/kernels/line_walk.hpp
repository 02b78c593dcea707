// How the products of a few rows go over lines of keys, or values: by turns from two places, whatever kind of numbers
// they are, and however many rows.
#pragma once

#include "kernels/row_products.hpp"

namespace heed::kernels {

/// Bytes of a line up to which more than one of a place come at once, so that queries are loaded, and outputs loaded
/// and stored, less often: memory brings longer ones that are read by turns half as fast.
inline constexpr std::ptrdiff_t kShortLine = 384;

/// Scores of lines that follow on each other, `stride` bytes apart, of all rows.
using ScoreLines = void(const RowDots& input, const char* first, std::ptrdiff_t stride, int count, float* scores);
/// Scores of `count` vectors of keys, two vectors at a time; of whole pairs of vectors of numbers.
using ScoreTwos = void(const RowDots& input, Walk<const char> keys, std::ptrdiff_t stride, int count,
                       Walk<float> scores);

/// How keys meet queries.
struct ScoreWay {
  std::ptrdiff_t bytes;  // of a number
  int together;          // keys whose scores are stored together: a vector of them, where there are `twos`
  ScoreLines* lines;
  ScoreTwos* twos;  // for short lines, if there is another way for them
};

/// Scores, of as many keys of each place by turns as are stored together.
[[gnu::noinline]] static inline void score_by_turns(const RowDots& input, const ScoreWay& way) {
  const Runs& keys = input.keys;
  const std::ptrdiff_t stride = keys.stride * way.bytes;
  const int dim = input.head_dim;
  const bool come_by_twos = way.twos && dim * way.bytes <= kShortLine && dim % (2 * way.together) == 0;
  const auto lines_of = [&](int run, int at) { return keys.line(run, at, way.bytes); };
  const auto scores_of = [&](int run, int at) { return input.scores.numbers + keys.place(run, at); };
  for (const Stretch& stretch : stretches_of(keys)) {
    const Turns turns = stretch.turns(way.together, come_by_twos ? 2 : 1);
    auto lines = walk_of(turns, stride, lines_of);
    auto scores = walk_of(turns, 1, scores_of);
    if (come_by_twos) {
      way.twos(input, lines, stride, turns.count, scores);
    } else {
      for (int i = 0; i < turns.count; ++i) way.lines(input, lines.take(), stride, way.together, scores.take());
    }
    const Stretch rest = stretch.behind(turns, way.together);
    for (int run = rest.first_run; run < rest.end_run(); ++run) {
      way.lines(input, lines_of(run, rest.begin), stride, rest.end - rest.begin, scores_of(run, rest.begin));
    }
  }
}

/// outputs += weights x `groups` of a few lines each of values, for each of which they are loaded and stored once.
using AddLines = void(const RowSums& input, Walk<const char> values, Walk<const float> weights, int groups);

/// How values are added: so many lines at once.
struct AddWay {
  std::ptrdiff_t bytes;  // of a number
  int most;              // at once, of short lines
  AddLines* one;
  AddLines* two;
  AddLines* all;  // `most`
};

/// outputs += weights x values, in the order of the lines' places: of short ones as many at once as may be, half of
/// them from each of two places, of long ones one. If it selects, a weight of zero leaves its value out, whatever that
/// is.
[[gnu::noinline]] static inline void add_by_turns(const RowSums& input, bool selects, const AddWay& way) {
  const Runs& values = input.values;
  const float* const weights = input.weights.numbers;
  const auto lines_of = [&](int run, int at) { return values.line(run, at, way.bytes); };
  const auto weights_of = [&](int run, int at) { return weights + values.place(run, at); };
  for (const Stretch& stretch : stretches_of(values)) {
    Stretch rest = stretch;
    if (!selects) {
      const int at_once = input.value_dim * way.bytes <= kShortLine ? way.most : stretch.runs;
      const Turns turns = stretch.turns(1, at_once);
      AddLines* const add = at_once == 1 ? way.one : (at_once == 2 ? way.two : way.all);
      add(input, walk_of(turns, values.stride * way.bytes, lines_of), walk_of(turns, 1, weights_of),
          turns.count / at_once);
      rest = stretch.behind(turns, 1);
    }
    for (int at = rest.begin; at < rest.end; ++at) {
      for (int run = rest.first_run; run < rest.end_run(); ++run) {
        const float* const weight = weights_of(run, at);
        if (selects && *weight == 0.0F) continue;
        const char* const line = lines_of(run, at);
        way.one(input, {line, line, 0}, {weight, weight, 0}, 1);
      }
    }
  }
}

}  // namespace heed::kernels
