// The two products of attention for a few rows whose keys, or values, are halves that are known to be finite: widened
// in registers, where writing and reading them once more would take as long as the products do.
#pragma once

#include "kernels/half.hpp"
#include "kernels/row_products.hpp"

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

/// Scores of one row, four keys of each run by turns, of which kKeys at a time meet the query.
template <class Arch, int kKeys>
[[gnu::noinline]] void score_halves_by(const RowDots& input) {
  const FiniteHalves<Arch> widen;
  const float* const query = input.queries.numbers;
  const Runs& keys = input.keys;
  const int dim = input.head_dim;
  for (const Stretch& stretch : stretches_of(keys)) {
    for (int at = stretch.begin; at < stretch.end; at += 4) {
      for (int run = stretch.first_run; run < stretch.end_run(); ++run) {
        const FewLines few = stretch.few(run, at, 4);
        Batch<Arch> square[4];
        for (int i = 0; i < 4; i += kKeys) {
          const std::uint16_t* lines[kKeys];
          Batch<Arch> sums[kKeys][2];
          for (int k = 0; k < kKeys; ++k) {
            lines[k] = keys.halves(run, few.line(i + k));
            sums[k][0] = sums[k][1] = Batch<Arch>(0.0F);
          }
          for (int d = 0; d < dim; d += 8) {
            const Batch<Arch> even = Batch<Arch>::load_aligned(query + d);
            const Batch<Arch> odd = Batch<Arch>::load_aligned(query + d + 4);
            for (int k = 0; k < kKeys; ++k) {
              const auto numbers = widen(lines[k] + d);
              sums[k][0] = multiply_add<Arch>(numbers.even, even, sums[k][0]);
              sums[k][1] = multiply_add<Arch>(numbers.odd, odd, sums[k][1]);
            }
          }
          for (int k = 0; k < kKeys; ++k) square[i + k] = sums[k][0] + sums[k][1];
        }
        const Batch<Arch> dots = sum_lanes<Arch>(square) * Batch<Arch>(query[input.unit]);
        store_some<Arch>(dots, input.scores.numbers + keys.place(run, at), few.count);
      }
    }
  }
}

/// The same: see score_row().
template <class Arch>
void score_row_of_halves(const RowDots& input) {
  if (input.head_dim <= kShortLine / 2) return score_halves_by<Arch, 2>(input);
  score_halves_by<Arch, 1>(input);
}

/// Sums of the products of kRows rows with a few keys: as many as there are registers for, so that none waits for
/// another.
template <class Arch, int kRows>
class RowsByKeys {
 public:
  static constexpr int kKeys = 8 / kRows;

  RowsByKeys() {
    for (auto& row : sums_) {
      for (Batch<Arch>& sum : row) sum = Batch<Arch>(0.0F);
    }
  }

  /// A vector of each key, and of each row's query.
  [[gnu::always_inline]] void add(const Batch<Arch> (&keys)[kKeys], const float* queries, std::ptrdiff_t stride) {
    for (int r = 0; r < kRows; ++r) {
      const Batch<Arch> query = Batch<Arch>::load_aligned(queries + r * stride);
      for (int k = 0; k < kKeys; ++k) sums_[r][k] = multiply_add<Arch>(keys[k], query, sums_[r][k]);
    }
  }

  /// Leaves them in `room`, and starts again from zero.
  [[gnu::always_inline]] void park(float* room) {
    for (int i = 0; i < kRows * kKeys; ++i) {
      Batch<Arch>& sum = sums_[i / kKeys][i % kKeys];
      sum.store_aligned(room + i * kLanes<Arch>);
      sum = Batch<Arch>(0.0F);
    }
  }
  /// Adds what was left there.
  [[gnu::always_inline]] void recall(const float* room) {
    for (int i = 0; i < kRows * kKeys; ++i) {
      sums_[i / kKeys][i % kKeys] += Batch<Arch>::load_aligned(room + i * kLanes<Arch>);
    }
  }

  /// As scores: what they add up to, times each row's unit.
  [[gnu::always_inline]] void store(const float* units, std::ptrdiff_t stride, RowNumbers scores) {
    for (int r = 0; r < kRows; r += 4 / kKeys) {
      Batch<Arch> square[4];
      for (int i = 0; i < 4; ++i) square[i] = sums_[r + i / kKeys][i % kKeys];
      alignas(kScratchAlignment) float dots[4];
      sum_lanes<Arch>(square).store_aligned(dots);
      for (int i = 0; i < 4; ++i) {
        const int row = r + i / kKeys;
        scores.from(row).numbers[i % kKeys] = dots[i] * units[row * stride];
      }
    }
  }

 private:
  Batch<Arch> sums_[kRows][kKeys];
};

/// Scores of kRows rows, with room up to a whole four of keys. A few keys at a time: first what is at even places, then
/// the rest, for which there would not be registers as well; each has sums of its own, as longer ones are less exact.
template <class Arch, int kRows>
void score_rows_of_halves(const RowDots& input) {
  constexpr int keys = RowsByKeys<Arch, kRows>::kKeys;
  const FiniteHalves<Arch> widen;
  const RowNumbers queries = input.queries;
  const int dim = input.head_dim;
  const FewLines all{0, input.keys.first, input.count()};
  alignas(kScratchAlignment) float room[8 * kLanes<Arch>];
  float* const even_sums = opaque(room);
  for (int j = 0; j < all.count; j += keys) {
    RowsByKeys<Arch, kRows> sums;
    const std::uint16_t* lines[keys];
    for (int k = 0; k < keys; ++k) lines[k] = input.keys.halves(0, all.line(j + k));
    Batch<Arch> numbers[keys];
    for (int d = 0; d < dim; d += 8) {
      for (int k = 0; k < keys; ++k) numbers[k] = widen(lines[k] + d).even;
      sums.add(numbers, queries.numbers + d, queries.stride);
    }
    sums.park(even_sums);
    for (int d = 0; d < dim; d += 8) {
      for (int k = 0; k < keys; ++k) numbers[k] = widen(lines[k] + d).odd;
      sums.add(numbers, queries.numbers + d + 4, queries.stride);
    }
    sums.recall(even_sums);
    sums.store(queries.numbers + input.unit, queries.stride, {input.scores.numbers + j, input.scores.stride});
  }
}

/// output[dim] += weights x values of one row, kLines lines at a time.
template <class Arch, int kLines>
[[gnu::noinline]] void add_halves_by(const RowSums& input) {
  const FiniteHalves<Arch> widen;
  const Runs& values = input.values;
  const float* const weights = input.weights.numbers;
  float* const output = input.outputs.numbers;
  const int dim = input.value_dim;
  for (const Stretch& stretch : stretches_of(values)) {
    for (int at = stretch.begin; at < stretch.end; at += stretch.step(kLines)) {
      const LinesAtOnce some = stretch.at_once(at, kLines);
      const std::uint16_t* lines[kLines];
      Batch<Arch> factors[kLines];
      for (int n = 0; n < kLines; ++n) {
        // What is missing is the first once more, and counts for nothing.
        const bool is_there = n < some.count;
        lines[n] = is_there ? values.halves(some.run(n), some.line(n)) : lines[0];
        factors[n] = Batch<Arch>(is_there ? weights[values.place(some.run(n), some.line(n))] : 0.0F);
      }
      for (int e = 0; e < dim; e += 8) {
        Batch<Arch> even = Batch<Arch>::load_aligned(output + e);
        Batch<Arch> odd = Batch<Arch>::load_aligned(output + e + 4);
        for (int n = 0; n < kLines; ++n) {
          const auto numbers = widen(lines[n] + e);
          even = multiply_add<Arch>(numbers.even, factors[n], even);
          odd = multiply_add<Arch>(numbers.odd, factors[n], odd);
        }
        even.store_aligned(output + e);
        odd.store_aligned(output + e + 4);
      }
    }
  }
}

/// The same: see add_values_to_row().
template <class Arch>
void add_halves_to_row(const RowSums& input) {
  if (input.value_dim <= kShortLine / 2) return add_halves_by<Arch, 2 * kRuns>(input);
  add_halves_by<Arch, kRuns>(input);
}

/// The same of kRows rows, eight numbers of all lines at a time.
template <class Arch, int kRows>
void add_halves_to_rows(const RowSums& input) {
  const FiniteHalves<Arch> widen;
  const RowNumbers weights = input.weights;
  const std::ptrdiff_t stride = input.values.stride;
  const int count = input.count();
  for (int e = 0; e < input.value_dim; e += 8) {
    float* const outputs = input.outputs.numbers + e;
    Batch<Arch> even[kRows];
    Batch<Arch> odd[kRows];
    for (int r = 0; r < kRows; ++r) {
      even[r] = Batch<Arch>::load_aligned(outputs + r * input.outputs.stride);
      odd[r] = Batch<Arch>::load_aligned(outputs + r * input.outputs.stride + 4);
    }
    const std::uint16_t* line = input.values.halves(0, input.values.first) + e;
    for (int j = 0; j < count; ++j, line += stride) {
      const auto numbers = widen(line);
      for (int r = 0; r < kRows; ++r) {
        const Batch<Arch> weight = Batch<Arch>::broadcast(weights.numbers[r * weights.stride + j]);
        even[r] = multiply_add<Arch>(numbers.even, weight, even[r]);
        odd[r] = multiply_add<Arch>(numbers.odd, weight, odd[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      even[r].store_aligned(outputs + r * input.outputs.stride);
      odd[r].store_aligned(outputs + r * input.outputs.stride + 4);
    }
  }
}

/// Scores of all rows, whose queries are ready for halves.
template <class Arch>
inline void score_all_rows_of_halves(int rows, const RowDots& input) {
  static constexpr void (*kWays[])(const RowDots&) = {&score_row_of_halves<Arch>, &score_rows_of_halves<Arch, 2>,
                                                      &score_rows_of_halves<Arch, 4>};
  score_by_ways(rows, kWays, input);
}

/// outputs += weights x values, of all rows; weights of at most 1, which are used up. Of each eight numbers of an
/// output first those with even places.
template <class Arch>
inline void add_halves_to_all_rows(int rows, const RowSums& input) {
  static constexpr void (*kWays[])(const RowSums&) = {&add_halves_to_row<Arch>, &add_halves_to_rows<Arch, 2>,
                                                      &add_halves_to_rows<Arch, 4>};
  for (int row = 0; row < rows; ++row) {
    float* const weights = input.weights.from(row).numbers;
    for (int j = 0; j < input.count(); ++j) weights[j] *= kHalfBias;
  }
  add_by_ways(rows, kWays, input);
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
