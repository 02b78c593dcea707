// The two products of decode with f16 keys and values that are known to be finite. They are widened in registers:
// writing and reading them once more would take as long as the products do.
#pragma once

#include "kernels/decode/add_values.hpp"
#include "kernels/decode/one_query.hpp"
#include "kernels/decode/query_key_tile.hpp"
#include "kernels/memory/widen.hpp"

namespace heed::kernels {

inline bool widens_in_registers(const KvRows& rows, int dim) {
  return rows.dtype == DType::f16 && rows.is_finite && dim % 16 == 0 && dim % kPanel == 0;
}

/// Prepares a query for keys that F16Widener widens. In each panel of numbers those with even indices come first, as
/// the widener gives them. Widened numbers are times 2^-112, so the query is multiplied with a power of two that keeps
/// its largest number, and the products of that, in the range of f32. Returns the factor of the dot products that
/// undoes both.
inline float reorder_query_for_f16(float* query, int dim) {
  const float largest = largest_magnitude(query, dim);
  const float factor = largest < 0x1p-20F ? 0x1p127F : (largest < 0x1p60F ? 0x1p64F : 1.0F);
  for (int d = 0; d < dim; d += kPanel) {
    const EvenOdd numbers = deinterleave(query + d);
    (numbers.even * factor).store_aligned(query + d);
    (numbers.odd * factor).store_aligned(query + d + kLanes);
  }
  return 0x1p112F / factor;
}

/// The keys of one query: see F32Keys.
class F16Keys {
 public:
  using Number = std::uint16_t;

  explicit F16Keys(const QueryKeyDots& input) : scale_(input.queries.numbers[input.scale_offset]) {}

  /// Numbers with even indices have one accumulator, the others another.
  template <int kKeys>
  [[gnu::always_inline]] void multiply(const float* query, int dim, const std::uint16_t* (&keys)[kKeys],
                                       Batch* const (&results)[kKeys]) const {
    Batch sums[kKeys][2];
    for (auto& key : sums) key[0] = key[1] = Batch(0.0F);
    for (const float* const end = query + dim; query < end; query += kPanel) {
      const Batch even = Batch::load_aligned(query);
      const Batch odd = Batch::load_aligned(query + kLanes);
      for (int k = 0; k < kKeys; ++k) {
        const auto numbers = widen_(keys[k]);
        sums[k][0] = multiply_add(numbers.even, even, sums[k][0]);
        sums[k][1] = multiply_add(numbers.odd, odd, sums[k][1]);
        keys[k] += kPanel;
      }
    }
    for (int k = 0; k < kKeys; ++k) *results[k] = sums[k][0] + sums[k][1];
  }

  [[nodiscard, gnu::always_inline]] Batch scores(Batch sums) const { return sums * scale_; }

 private:
  F16Widener widen_;
  Batch scale_;
};

/// How values are added: see F32Values. In each panel of numbers of an output those with even indices come first, until
/// restore_f16_order().
class F16Values {
 public:
  using Number = std::uint16_t;
  static constexpr bool kAreFinite = true;

  template <int kRows, int kValues>
  [[gnu::always_inline]] void add(const Batch (&factors)[kRows][kValues], const std::uint16_t* (&values)[kValues],
                                  int dim, StridedRows outputs) const {
    float* address = outputs.numbers;
    for (float* const end = address + dim; address < end; address += kPanel) {
      Batch even[kValues];
      Batch odd[kValues];
      for (int n = 0; n < kValues; ++n) {
        const auto numbers = widen_(values[n]);
        even[n] = numbers.even;
        odd[n] = numbers.odd;
        values[n] += kPanel;
      }
      for (int r = 0; r < kRows; ++r) {
        add_products(factors[r], even, address + r * outputs.stride);
        add_products(factors[r], odd, address + r * outputs.stride + kLanes);
      }
    }
  }

 private:
  F16Widener widen_;
};

/// Keys whose dot products with kRows queries are computed at once.
template <int kRows>
inline constexpr int kF16KeysAtOnce = 8 / kRows;

/// A loop of ScoreRows, for kRows queries and a few keys at a time. It goes through head_dim twice: over the numbers
/// with even indices, then over the others, as there are not enough registers for both. The accumulators of the first
/// half are stored meanwhile and added in the end; going on with them would make longer sums, which are less exact.
template <int kRows>
[[gnu::noinline]] void score_f16_keys_of_queries(const QueryKeyDots& input, const char* first, std::ptrdiff_t stride,
                                                 int count, float* scores) {
  constexpr int keys = kF16KeysAtOnce<kRows>;
  const F16Widener widen;
  const StridedRows queries = input.queries;
  const int dim = input.head_dim;
  alignas(kScratchAlignment) float room[8 * kLanes];
  float* const even_sums = opaque(room);
  for (int j = 0; j < count; j += keys) {
    QueryKeyTile<kRows, keys, 1> sums;
    const std::uint16_t* some[keys];
    for (int k = 0; k < keys; ++k) {
      // Behind the last key it comes once more.
      some[k] = reinterpret_cast<const std::uint16_t*>(first + (j + k < count ? j + k : count - 1) * stride);
    }
    Batch numbers[keys];
    for (int d = 0; d < dim; d += kPanel) {
      for (int k = 0; k < keys; ++k) numbers[k] = widen(some[k] + d).even;
      sums.add(0, numbers, queries.numbers + d, queries.stride);
    }
    sums.spill(even_sums);
    for (int d = 0; d < dim; d += kPanel) {
      for (int k = 0; k < keys; ++k) numbers[k] = widen(some[k] + d).odd;
      sums.add(0, numbers, queries.numbers + d + kLanes, queries.stride);
    }
    sums.recall(even_sums);
    const auto scale_of = [&](int row) { return queries.numbers[row * queries.stride + input.scale_offset]; };
    sums.store(count - j, scale_of, {scores + j, input.scores.stride});
  }
}

/// Scores of kRows queries.
template <int kRows>
void score_queries_f16(const QueryKeyDots& input) {
  score_interleaved(input, {sizeof(std::uint16_t), kF16KeysAtOnce<kRows>, &score_f16_keys_of_queries<kRows>, nullptr});
}

/// Scores of all queries, which reorder_query_for_f16() has prepared.
inline void score_all_queries_f16(int rows, const QueryKeyDots& input) {
  static constexpr void (*kLoops[])(const QueryKeyDots&) = {&score_query<F16Keys>, &score_queries_f16<2>,
                                                            &score_queries_f16<4>};
  score_by_query_count(rows, kLoops, input);
}

/// outputs += weights x values for all rows. Weights are at most 1, and are used up.
inline void add_f16_values(int rows, const ValueSums& input) {
  for (int row = 0; row < rows; ++row) {
    float* const weights = input.weights.from(row).numbers;
    for (int j = 0; j < input.count(); j += kLanes) {
      const int some = input.count() - j < kLanes ? input.count() - j : kLanes;
      store_some(load_some(weights + j, some) * Batch(kF16Bias), weights + j, some);
    }
  }
  add_values_to_all<F16Values>(rows, input);
}

/// Brings the numbers of an output back in their order.
inline void restore_f16_order(int dim, float* output) {
  for (int e = 0; e < dim; e += kPanel) {
    interleave({Batch::load_aligned(output + e), Batch::load_aligned(output + e + kLanes)}, output + e);
  }
}

}  // namespace heed::kernels
