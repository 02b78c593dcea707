// The two products of decode with f32 keys and values.
#pragma once

#include "kernels/decode/add_values.hpp"
#include "kernels/decode/one_query.hpp"
#include "kernels/decode/query_key_tile.hpp"

namespace heed::kernels {

/// The keys of one query.
struct F32Keys {
  using Number = float;

  explicit F32Keys(const QueryKeyDots& /*input*/) {}

  /// Dot products of `query` with kKeys keys, whose lanes are still to be summed. Each has two accumulators, so that
  /// they need not wait for each other.
  template <int kKeys>
  [[gnu::always_inline]] void multiply(const float* query, int dim, const float* (&keys)[kKeys],
                                       Batch* const (&results)[kKeys]) const {
    constexpr std::ptrdiff_t lanes = kLanes;
    Batch sums[kKeys][2];
    for (auto& key : sums) key[0] = key[1] = Batch(0.0F);
    const auto add = [&](int s, auto load) {
      const Batch numbers = Batch::load_aligned(query + s * lanes);
      for (int k = 0; k < kKeys; ++k) sums[k][s] = multiply_add(load(keys[k] + s * lanes), numbers, sums[k][s]);
    };
    const float* const end = query + dim;
    for (const float* const end_of_pairs = end - dim % (2 * lanes); query < end_of_pairs; query += 2 * lanes) {
      for (int s = 0; s < 2; ++s) {
        add(s, [](const float* numbers) { return Batch::load_unaligned(numbers); });
      }
      for (const float*& key : keys) key += 2 * lanes;
    }
    if constexpr (kKeys == 1) {
      for (; query < end; query += lanes, keys[0] += lanes) {
        const int count = end - query < lanes ? static_cast<int>(end - query) : kLanes;
        add(0, [count](const float* numbers) { return load_some(numbers, count); });
      }
    }
    for (int k = 0; k < kKeys; ++k) *results[k] = sums[k][0] + sums[k][1];
  }

  [[nodiscard, gnu::always_inline]] static Batch scores(Batch sums) { return sums; }
};

/// How values are added.
struct F32Values {
  using Number = float;
  static constexpr bool kAreFinite = false;

  /// outputs[dim] of kRows rows += factors x rows of V.
  template <int kRows, int kValues>
  [[gnu::always_inline]] void add(const Batch (&factors)[kRows][kValues], const float* (&values)[kValues], int dim,
                                  StridedRows outputs) const {
    constexpr int lanes = kLanes;
    const auto add = [&](float* address, auto load) {
      Batch numbers[kValues];
      for (int n = 0; n < kValues; ++n) numbers[n] = load(values[n]);
      for (int r = 0; r < kRows; ++r) add_products(factors[r], numbers, address + r * outputs.stride);
    };
    float* address = outputs.numbers;
    float* const end = address + dim;
    for (float* const whole_end = end - dim % lanes; address < whole_end; address += lanes) {
      add(address, [](const float* numbers) { return Batch::load_unaligned(numbers); });
      for (const float*& value : values) value += lanes;
    }
    if (address < end) add(address, [=](const float* numbers) { return load_tail(numbers, dim % lanes); });
  }
};

/// See ScoreRows: for kRows queries, kKeys keys at a time.
template <int kRows, int kKeys>
[[gnu::noinline]] void score_keys_of_queries(const QueryKeyDots& input, const char* first, std::ptrdiff_t stride,
                                             int count, float* scores) {
  constexpr int lanes = kLanes;
  constexpr int accumulators = kKeys == 1 ? 2 : 1;
  const StridedRows queries = input.queries;
  const int dim = input.head_dim;
  for (int j = 0; j < count; j += kKeys) {
    QueryKeyTile<kRows, kKeys, accumulators> sums;
    const float* some[kKeys];
    // Behind the last key it comes once more.
    for (int k = 0; k < kKeys; ++k) {
      some[k] = reinterpret_cast<const float*>(first + (j + k < count ? j + k : count - 1) * stride);
    }
    const auto add = [&](int d, int accumulator, auto load) {
      Batch numbers[kKeys];
      for (int k = 0; k < kKeys; ++k) numbers[k] = load(some[k] + d);
      sums.add(accumulator, numbers, queries.numbers + d, queries.stride);
    };
    int d = 0;
    for (; d + accumulators * lanes <= dim; d += accumulators * lanes) {
      for (int accumulator = 0; accumulator < accumulators; ++accumulator) {
        add(d + accumulator * lanes, accumulator, [](const float* number) { return Batch::load_unaligned(number); });
      }
    }
    for (; d < dim; d += lanes) {
      add(d, 0, [=](const float* number) { return load_some(number, dim - d < lanes ? dim - d : lanes); });
    }
    sums.store(count - j, [](int) { return 1.0F; }, {scores + j, input.scores.stride});
  }
}

/// Scores of kRows queries.
template <int kRows>
void score_queries(const QueryKeyDots& input) {
  ScoreRows* rows = &score_keys_of_queries<kRows, 1>;
  // Two keys of two queries would need no fewer loads than they have products.
  if constexpr (kRows == 4) {
    if (input.head_dim * std::ptrdiff_t{sizeof(float)} <= kShortRowBytes) rows = &score_keys_of_queries<kRows, 2>;
  }
  score_interleaved(input, {sizeof(float), 2, rows, nullptr});
}

/// Scores of all queries.
inline void score_all_queries(int rows, const QueryKeyDots& input) {
  static constexpr void (*kLoops[])(const QueryKeyDots&) = {&score_query<F32Keys>, &score_queries<2>,
                                                            &score_queries<4>};
  score_by_query_count(rows, kLoops, input);
}

}  // namespace heed::kernels
