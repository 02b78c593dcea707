// How the products of decode go over rows of K or V: alternately from two streams, whatever the type of the numbers and
// the number of queries.
#pragma once

#include "kernels/decode/row_products.hpp"

namespace heed::kernels {

/// Rows of K or V up to so many bytes are read several at a time from each stream, so that queries are loaded, and
/// outputs loaded and stored, less often. Longer rows, read so, come from memory at half the rate.
inline constexpr std::ptrdiff_t kShortRowBytes = 384;

/// Scores of rows that follow on each other, `stride` bytes apart, for all queries.
using ScoreRows = void(const QueryKeyDots& input, const char* first, std::ptrdiff_t stride, int count, float* scores);
/// Scores of `count` vectors of keys, two vectors at a time, where head_dim is a whole number of pairs of vectors.
using ScoreShortRows = void(const QueryKeyDots& input, InterleavedReader<const char> keys, std::ptrdiff_t stride,
                            int count, InterleavedReader<float> scores);

/// The loops that compute the scores of queries and keys.
struct ScoreLoops {
  std::ptrdiff_t bytes;  // of a number
  int together;  // keys whose scores are stored together: a vector of them, where there is a loop for short rows
  ScoreRows* rows;
  ScoreShortRows* short_rows;  // null: short rows have no loop of their own
};

/// Scores, alternately of as many keys of each stream as are stored together.
[[gnu::noinline]] inline void score_interleaved(const QueryKeyDots& input, const ScoreLoops& loops) {
  const StreamPair& keys = input.keys;
  const std::ptrdiff_t stride = keys.stride * loops.bytes;
  const int dim = input.head_dim;
  const bool are_short = loops.short_rows && dim * loops.bytes <= kShortRowBytes && dim % (2 * loops.together) == 0;
  const auto rows_at = [&](int stream, int at) { return keys.row(stream, at, loops.bytes); };
  const auto scores_at = [&](int stream, int at) { return input.scores.numbers + keys.position(stream, at); };
  for (const StreamSegment& segment : segments_of(keys)) {
    const Interleaving interleaving = segment.interleaving(loops.together, are_short ? 2 : 1);
    auto rows = read_interleaved(interleaving, stride, rows_at);
    auto scores = read_interleaved(interleaving, 1, scores_at);
    if (are_short) {
      loops.short_rows(input, rows, stride, interleaving.count, scores);
    } else {
      for (int i = 0; i < interleaving.count; ++i)
        loops.rows(input, rows.take(), stride, loops.together, scores.take());
    }
    const StreamSegment rest = segment.behind(interleaving, loops.together);
    for (int stream = rest.first_stream; stream < rest.end_stream(); ++stream) {
      loops.rows(input, rows_at(stream, rest.begin), stride, rest.end - rest.begin, scores_at(stream, rest.begin));
    }
  }
}

/// outputs += weights x values, in `groups` of a few rows, for each of which the outputs are loaded and stored once.
using AddRows = void(const ValueSums& input, InterleavedReader<const char> values,
                     InterleavedReader<const float> weights, int groups);

/// The loops by which values are added.
struct AddLoops {
  std::ptrdiff_t bytes;  // of a number
  int most;              // short rows at once
  AddRows* one;
  AddRows* two;
  AddRows* all;  // `most`
};

/// outputs += weights x values, in the order of the rows: short rows as many at once as there is a loop for, half of
/// them from each stream, long rows one by one. Where it selects, a weight of zero leaves its value out, whatever that
/// is.
[[gnu::noinline]] inline void add_interleaved(const ValueSums& input, bool selects, const AddLoops& loops) {
  const StreamPair& values = input.values;
  const float* const weights = input.weights.numbers;
  const auto rows_at = [&](int stream, int at) { return values.row(stream, at, loops.bytes); };
  const auto weights_at = [&](int stream, int at) { return weights + values.position(stream, at); };
  for (const StreamSegment& segment : segments_of(values)) {
    StreamSegment rest = segment;
    if (!selects) {
      const int at_once = input.value_dim * loops.bytes <= kShortRowBytes ? loops.most : segment.streams;
      const Interleaving interleaving = segment.interleaving(1, at_once);
      AddRows* const add = at_once == 1 ? loops.one : (at_once == 2 ? loops.two : loops.all);
      add(input, read_interleaved(interleaving, values.stride * loops.bytes, rows_at),
          read_interleaved(interleaving, 1, weights_at), interleaving.count / at_once);
      rest = segment.behind(interleaving, 1);
    }
    for (int at = rest.begin; at < rest.end; ++at) {
      for (int stream = rest.first_stream; stream < rest.end_stream(); ++stream) {
        const float* const weight = weights_at(stream, at);
        if (selects && *weight == 0.0F) continue;
        const char* const row = rows_at(stream, at);
        loops.one(input, {row, row, 0}, {weight, weight, 0}, 1);
      }
    }
  }
}

}  // namespace heed::kernels
