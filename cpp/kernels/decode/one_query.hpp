// Scores of one query that has its keys to itself (GEMV). F32Keys and F16Keys say how a row of K is multiplied.
#pragma once

#include "kernels/decode/interleave.hpp"

namespace heed::kernels {

/// See ScoreRows.
template <class Keys>
[[gnu::noinline]] void score_keys_of_query(const QueryKeyDots& input, const char* first, std::ptrdiff_t stride,
                                           int count, float* scores) {
  constexpr int lanes = kLanes;
  const Keys keys(input);
  for (int j = 0; j < count; j += lanes) {
    const int given = count - j < lanes ? count - j : lanes;
    Batch square[lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; ++i) {
      square[i] = Batch(0.0F);
      const typename Keys::Number* key[] = {reinterpret_cast<const typename Keys::Number*>(first + (j + i) * stride)};
      if (i < given) keys.multiply(input.queries.numbers, input.head_dim, key, {square + i});
    }
    store_some(keys.scores(sum_lanes(square)), scores + j, given);
  }
}

/// Keys whose dot products with the query are computed at once where rows are short: two of each stream.
inline constexpr int kKeysAtOnce = 2 * kStreams;

/// See ScoreShortRows.
template <class Keys>
[[gnu::noinline]] void score_short_keys_of_query(const QueryKeyDots& input, InterleavedReader<const char> reader,
                                                 std::ptrdiff_t stride, int count, InterleavedReader<float> scores) {
  constexpr int lanes = kLanes;
  const Keys keys(input);
  const float* const query = input.queries.numbers;
  const int dim = input.head_dim;
  for (int vector = 0; vector < count; vector += 2) {
    const char* next[] = {reader.take(), reader.take()};
    Batch square[2][lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; i += 2) {
      const typename Keys::Number* some[kKeysAtOnce];
      Batch* results[kKeysAtOnce];
      for (int k = 0; k < kKeysAtOnce; ++k) {
        some[k] = reinterpret_cast<const typename Keys::Number*>(next[k / 2]);
        next[k / 2] += stride;
        results[k] = &square[k / 2][i + k % 2];
      }
      keys.multiply(query, dim, some, results);
    }
    for (auto& one : square) keys.scores(sum_lanes(one)).store_unaligned(scores.take());
  }
}

/// Scores of one query.
template <class Keys>
void score_query(const QueryKeyDots& input) {
  score_interleaved(
      input, {sizeof(typename Keys::Number), kLanes, &score_keys_of_query<Keys>, &score_short_keys_of_query<Keys>});
}

}  // namespace heed::kernels
