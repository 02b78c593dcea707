// The two products of attention for a few rows whose keys, or values, are of single precision.
#pragma once

#include "kernels/add_lines.hpp"
#include "kernels/one_row.hpp"
#include "kernels/several_rows.hpp"

namespace heed::kernels {

/// Keys of a row alone.
template <class A>
struct SingleKeys {
  using Arch = A;
  using Number = float;

  explicit SingleKeys(const RowDots& /*input*/) {}

  /// Dot products of `query` with kKeys keys, whose lanes are still to be summed: of two sums each, by turns, so that
  /// they need not wait for each other.
  template <int kKeys>
  [[gnu::always_inline]] void multiply(const float* query, int dim, const float* (&keys)[kKeys],
                                       Batch<Arch>* const (&results)[kKeys]) const {
    constexpr std::ptrdiff_t lanes = kLanes<Arch>;
    Batch<Arch> sums[kKeys][2];
    for (auto& key : sums) key[0] = key[1] = Batch<Arch>(0.0F);
    const auto add = [&](int s, auto load) {
      const Batch<Arch> numbers = Batch<Arch>::load_aligned(query + s * lanes);
      for (int k = 0; k < kKeys; ++k) sums[k][s] = multiply_add<Arch>(load(keys[k] + s * lanes), numbers, sums[k][s]);
    };
    const float* const end = query + dim;
    for (const float* const end_of_turns = end - dim % (2 * lanes); query < end_of_turns; query += 2 * lanes) {
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

  [[nodiscard, gnu::always_inline]] Batch<Arch> scores(Batch<Arch> sums) const { return sums; }
};

/// Values.
template <class A>
struct SingleValues {
  using Arch = A;
  using Number = float;
  static constexpr bool kAreFinite = false;

  /// outputs[dim] of kRows rows += factors x lines.
  template <int kRows, int kLines>
  [[gnu::always_inline]] void add(const Batch<Arch> (&factors)[kRows][kLines], const float* (&lines)[kLines], int dim,
                                  RowNumbers outputs) const {
    constexpr int lanes = kLanes<Arch>;
    const auto add = [&](float* place, auto load) {
      Batch<Arch> numbers[kLines];
      for (int n = 0; n < kLines; ++n) numbers[n] = load(lines[n]);
      for (int r = 0; r < kRows; ++r) add_products<Arch>(factors[r], numbers, place + r * outputs.stride);
    };
    float* place = outputs.numbers;
    float* const end = place + dim;
    for (float* const whole_end = end - dim % lanes; place < whole_end; place += lanes) {
      add(place, [](const float* numbers) { return Batch<Arch>::load_unaligned(numbers); });
      for (const float*& line : lines) line += lanes;
    }
    if (place < end) add(place, [=](const float* numbers) { return load_part<Arch>(numbers, dim % lanes); });
  }
};

/// See ScoreLines: of kRows rows, kKeys at a time.
template <class Arch, int kRows, int kKeys>
[[gnu::noinline]] void score_lines_of_rows(const RowDots& input, const char* first, std::ptrdiff_t stride, int count,
                                           float* scores) {
  constexpr int lanes = kLanes<Arch>;
  constexpr int parts = kKeys == 1 ? 2 : 1;
  const RowNumbers queries = input.queries;
  const int dim = input.head_dim;
  for (int j = 0; j < count; j += kKeys) {
    RowsByKeys<Arch, kRows, kKeys, parts> sums;
    const float* some[kKeys];
    // Behind them the last once more.
    for (int k = 0; k < kKeys; ++k) {
      some[k] = reinterpret_cast<const float*>(first + (j + k < count ? j + k : count - 1) * stride);
    }
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
    sums.store(count - j, [](int) { return 1.0F; }, {scores + j, input.scores.stride});
  }
}

/// Scores of kRows rows.
template <class Arch, int kRows>
void score_rows(const RowDots& input) {
  ScoreLines* lines = &score_lines_of_rows<Arch, kRows, 1>;
  // Two keys of two rows would need no fewer loads than they have products.
  if constexpr (kRows == 4) {
    if (input.head_dim * std::ptrdiff_t{sizeof(float)} <= kShortLine) lines = &score_lines_of_rows<Arch, kRows, 2>;
  }
  score_by_turns(input, {sizeof(float), 2, lines, nullptr});
}

/// Scores of all rows.
template <class Arch>
inline void score_all_rows(int rows, const RowDots& input) {
  static constexpr void (*kWays[])(const RowDots&) = {&score_row<SingleKeys<Arch>>, &score_rows<Arch, 2>,
                                                      &score_rows<Arch, 4>};
  score_by_ways(rows, kWays, input);
}

}  // namespace heed::kernels
