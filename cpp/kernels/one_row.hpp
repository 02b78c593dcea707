// Scores of a row that has its keys to itself. A kind of keys, as in single_rows.hpp and half_rows.hpp, says what is
// done with whole lines.
#pragma once

#include "kernels/line_walk.hpp"

namespace heed::kernels {

/// See ScoreLines.
template <class Keys>
[[gnu::noinline]] void score_lines(const RowDots& input, const char* first, std::ptrdiff_t stride, int count,
                                   float* scores) {
  using Arch = typename Keys::Arch;
  constexpr int lanes = kLanes<Arch>;
  const Keys keys(input);
  for (int j = 0; j < count; j += lanes) {
    const int given = count - j < lanes ? count - j : lanes;
    Batch<Arch> square[lanes];
    HEED_KEEP_LOOP
    for (int i = 0; i < lanes; ++i) {
      square[i] = Batch<Arch>(0.0F);
      const typename Keys::Number* key[] = {reinterpret_cast<const typename Keys::Number*>(first + (j + i) * stride)};
      if (i < given) keys.multiply(input.queries.numbers, input.head_dim, key, {square + i});
    }
    store_some<Arch>(keys.scores(sum_lanes<Arch>(square)), scores + j, given);
  }
}

/// Keys that meet the query at once where lines are short: two of each of two places.
inline constexpr int kKeysAtOnce = 2 * kRuns;

/// See ScoreTwos.
template <class Keys>
[[gnu::noinline]] void score_twos(const RowDots& input, Walk<const char> walk, std::ptrdiff_t stride, int count,
                                  Walk<float> scores) {
  using Arch = typename Keys::Arch;
  constexpr int lanes = kLanes<Arch>;
  const Keys keys(input);
  const float* const query = input.queries.numbers;
  const int dim = input.head_dim;
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
      keys.multiply(query, dim, some, results);
    }
    for (auto& one : square) keys.scores(sum_lanes<Arch>(one)).store_unaligned(scores.take());
  }
}

/// Scores of one row.
template <class Keys>
void score_row(const RowDots& input) {
  score_by_turns(input,
                 {sizeof(typename Keys::Number), kLanes<typename Keys::Arch>, &score_lines<Keys>, &score_twos<Keys>});
}

}  // namespace heed::kernels
