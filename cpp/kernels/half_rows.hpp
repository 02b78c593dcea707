// The two products of attention for a few rows whose keys, or values, are halves that are known to be finite: widened
// in registers, where writing and reading them once more would take as long as the products do.
#pragma once

#include "kernels/add_lines.hpp"
#include "kernels/half.hpp"
#include "kernels/one_row.hpp"
#include "kernels/several_rows.hpp"

namespace heed::kernels {

#ifdef __wasm_simd128__
inline bool may_widen_in_registers(const HeadRows& rows, int dim) {
  return rows.first.precision == Precision::half && rows.is_finite && dim % 16 == 0;
}

/// Makes of a query what meets halves as they lie: of each eight numbers first those with even places; times a power of
/// two by which neither its largest number nor that one's product with halves times 2^-112 leaves single precision,
/// upwards or downwards. Gives the products' unit.
inline float make_ready_for_halves(float* query, int dim) {
  const float largest = largest_size(query, dim);
  const float factor = largest < 0x1p-20F ? 0x1p127F : (largest < 0x1p60F ? 0x1p64F : 1.0F);
  const v128_t factors = wasm_f32x4_splat(factor);
  for (int d = 0; d < dim; d += 8) {
    const v128_t first = wasm_f32x4_mul(wasm_v128_load(query + d), factors);
    const v128_t second = wasm_f32x4_mul(wasm_v128_load(query + d + 4), factors);
    wasm_v128_store(query + d, wasm_i32x4_shuffle(first, second, 0, 2, 4, 6));
    wasm_v128_store(query + d + 4, wasm_i32x4_shuffle(first, second, 1, 3, 5, 7));
  }
  return 0x1p112F / factor;
}

/// Keys of a row alone: see SingleKeys.
template <class A>
class HalfKeys {
 public:
  using Arch = A;
  using Number = std::uint16_t;

  explicit HalfKeys(const RowDots& input) : unit_(input.queries.numbers[input.unit]) {}

  /// There is a sum of what is at even places, and one of the rest.
  template <int kKeys>
  [[gnu::always_inline]] void multiply(const float* query, int dim, const std::uint16_t* (&keys)[kKeys],
                                       Batch<Arch>* const (&results)[kKeys]) const {
    Batch<Arch> sums[kKeys][2];
    for (auto& key : sums) key[0] = key[1] = Batch<Arch>(0.0F);
    for (const float* const end = query + dim; query < end; query += 8) {
      const Batch<Arch> even = Batch<Arch>::load_aligned(query);
      const Batch<Arch> odd = Batch<Arch>::load_aligned(query + 4);
      for (int k = 0; k < kKeys; ++k) {
        const auto numbers = widen_(keys[k]);
        sums[k][0] = multiply_add<Arch>(numbers.even, even, sums[k][0]);
        sums[k][1] = multiply_add<Arch>(numbers.odd, odd, sums[k][1]);
        keys[k] += 8;
      }
    }
    for (int k = 0; k < kKeys; ++k) *results[k] = sums[k][0] + sums[k][1];
  }

  [[nodiscard, gnu::always_inline]] Batch<Arch> scores(Batch<Arch> sums) const { return sums * unit_; }

 private:
  FiniteHalves<Arch> widen_;
  Batch<Arch> unit_;
};

/// Values: see SingleValues. Of each eight numbers of an output first those with even places.
template <class A>
class HalfValues {
 public:
  using Arch = A;
  using Number = std::uint16_t;
  static constexpr bool kAreFinite = true;

  template <int kRows, int kLines>
  [[gnu::always_inline]] void add(const Batch<Arch> (&factors)[kRows][kLines], const std::uint16_t* (&lines)[kLines],
                                  int dim, RowNumbers outputs) const {
    float* place = outputs.numbers;
    for (float* const end = place + dim; place < end; place += 8) {
      Batch<Arch> even[kLines];
      Batch<Arch> odd[kLines];
      for (int n = 0; n < kLines; ++n) {
        const auto numbers = widen_(lines[n]);
        even[n] = numbers.even;
        odd[n] = numbers.odd;
        lines[n] += 8;
      }
      for (int r = 0; r < kRows; ++r) {
        add_products<Arch>(factors[r], even, place + r * outputs.stride);
        add_products<Arch>(factors[r], odd, place + r * outputs.stride + 4);
      }
    }
  }

 private:
  FiniteHalves<Arch> widen_;
};

/// Keys that meet kRows rows at once.
template <int kRows>
inline constexpr int kHalfKeys = 8 / kRows;

/// See ScoreLines: of kRows rows. A few keys at a time: first what is at even places, then the rest, for which there
/// would not be registers as well; each has sums of its own, as longer ones are less exact.
template <class Arch, int kRows>
[[gnu::noinline]] void score_lines_of_halves(const RowDots& input, const char* first, std::ptrdiff_t stride, int count,
                                             float* scores) {
  constexpr int keys = kHalfKeys<kRows>;
  const FiniteHalves<Arch> widen;
  const RowNumbers queries = input.queries;
  const int dim = input.head_dim;
  alignas(kScratchAlignment) float room[8 * kLanes<Arch>];
  float* const even_sums = opaque(room);
  for (int j = 0; j < count; j += keys) {
    RowsByKeys<Arch, kRows, keys, 1> sums;
    const std::uint16_t* lines[keys];
    for (int k = 0; k < keys; ++k) {
      // Behind them the last once more.
      lines[k] = reinterpret_cast<const std::uint16_t*>(first + (j + k < count ? j + k : count - 1) * stride);
    }
    Batch<Arch> numbers[keys];
    for (int d = 0; d < dim; d += 8) {
      for (int k = 0; k < keys; ++k) numbers[k] = widen(lines[k] + d).even;
      sums.add(0, numbers, queries.numbers + d, queries.stride);
    }
    sums.park(even_sums);
    for (int d = 0; d < dim; d += 8) {
      for (int k = 0; k < keys; ++k) numbers[k] = widen(lines[k] + d).odd;
      sums.add(0, numbers, queries.numbers + d + 4, queries.stride);
    }
    sums.recall(even_sums);
    const auto unit_of = [&](int row) { return queries.numbers[row * queries.stride + input.unit]; };
    sums.store(count - j, unit_of, {scores + j, input.scores.stride});
  }
}

/// Scores of kRows rows.
template <class Arch, int kRows>
void score_rows_of_halves(const RowDots& input) {
  score_by_turns(input, {sizeof(std::uint16_t), kHalfKeys<kRows>, &score_lines_of_halves<Arch, kRows>, nullptr});
}

/// Scores of all rows, whose queries are ready for halves.
template <class Arch>
inline void score_all_rows_of_halves(int rows, const RowDots& input) {
  static constexpr void (*kWays[])(const RowDots&) = {&score_row<HalfKeys<Arch>>, &score_rows_of_halves<Arch, 2>,
                                                      &score_rows_of_halves<Arch, 4>};
  score_by_ways(rows, kWays, input);
}

/// outputs += weights x values, of all rows; weights of at most 1, which are used up.
template <class Arch>
inline void add_halves_to_all_rows(int rows, const RowSums& input) {
  for (int row = 0; row < rows; ++row) {
    float* const weights = input.weights.from(row).numbers;
    for (int j = 0; j < input.count(); j += 4) {
      const int some = input.count() - j < 4 ? input.count() - j : 4;
      store_some<Arch>(load_some<Arch>(weights + j, some) * Batch<Arch>(kHalfBias), weights + j, some);
    }
  }
  add_to_all_rows<HalfValues<Arch>>(rows, input);
}

/// The output's numbers in their order.
inline void order_halves_of_row(int dim, float* output) {
  for (int e = 0; e < dim; e += 8) {
    join_eight(wasm_v128_load(output + e), wasm_v128_load(output + e + 4), output + e);
  }
}
#else
/// Elsewhere widening is no more than reading.
inline bool may_widen_in_registers(const HeadRows& /*rows*/, int /*dim*/) { return false; }
inline float make_ready_for_halves(float* /*query*/, int /*dim*/) { return 1.0F; }
template <class Arch>
void score_all_rows_of_halves(int /*rows*/, const RowDots& /*input*/) {}
template <class Arch>
void add_halves_to_all_rows(int /*rows*/, const RowSums& /*input*/) {}
inline void order_halves_of_row(int /*dim*/, float* /*output*/) {}
#endif

}  // namespace heed::kernels
