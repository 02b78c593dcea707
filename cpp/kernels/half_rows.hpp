// The two products of attention for one row whose keys, or values, are halves that are known to be finite: widened in
// registers, where writing and reading them once more would take as long as the products do.
#pragma once

#include "kernels/half.hpp"
#include "kernels/row_products.hpp"

namespace heed::kernels {

#ifdef __wasm_simd128__
inline bool may_widen_in_registers(const HeadRows& rows, int dim) {
  return rows.first.precision == Precision::half && rows.is_finite && dim % 16 == 0;
}

/// Makes of a query what meets halves as they lie: of each eight numbers first those with even places; times a power of
/// two by which neither its numbers nor their products with halves times 2^-112 leave single precision. Gives the
/// products' unit.
inline float make_ready_for_halves(float* query, int dim) {
  const float factor = largest_size(query, dim) < 0x1p60F ? 0x1p64F : 1.0F;
  const v128_t factors = wasm_f32x4_splat(factor);
  for (int d = 0; d < dim; d += 8) {
    const v128_t first = wasm_f32x4_mul(wasm_v128_load(query + d), factors);
    const v128_t second = wasm_f32x4_mul(wasm_v128_load(query + d + 4), factors);
    wasm_v128_store(query + d, wasm_i32x4_shuffle(first, second, 0, 2, 4, 6));
    wasm_v128_store(query + d + 4, wasm_i32x4_shuffle(first, second, 1, 3, 5, 7));
  }
  return 0x1p112F / factor;
}

/// Scores of the row, four keys of each run by turns, of which kKeys at a time meet the query.
template <class Arch, int kKeys>
[[gnu::noinline]] void score_halves_by(const float* query, float unit, const Runs& keys, int dim, float* scores) {
  const FiniteHalves<Arch> widen;
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
        const Batch<Arch> dots = sum_lanes<Arch>(square) * Batch<Arch>(unit);
        store_some<Arch>(dots, scores + keys.place(run, at), few.count);
      }
    }
  }
}

/// The same: see score_row().
template <class Arch>
void score_row_of_halves(const float* query, float unit, const Runs& keys, int dim, float* scores) {
  if (dim <= kShortLine / 2) return score_halves_by<Arch, 2>(query, unit, keys, dim, scores);
  score_halves_by<Arch, 1>(query, unit, keys, dim, scores);
}

/// output[dim] += weights x values, four lines at a time; weights of at most 1. Of each eight numbers of the output
/// first those with even places.
template <class Arch>
[[gnu::noinline]] void add_halves_to_row(const float* weights, const Runs& values, int dim, float* output) {
  const FiniteHalves<Arch> widen;
  for (const Stretch& stretch : stretches_of(values)) {
    for (int at = stretch.begin; at < stretch.end; at += stretch.step()) {
      const FourLines four = stretch.four(at);
      const std::uint16_t* lines[kRuns];
      Batch<Arch> factors[kRuns];
      for (int n = 0; n < kRuns; ++n) {
        // What is missing is the first once more, and counts for nothing.
        const bool is_there = n < four.count;
        lines[n] = is_there ? values.halves(four.run(n), four.line(n)) : lines[0];
        factors[n] = Batch<Arch>(is_there ? weights[values.place(four.run(n), four.line(n))] : 0.0F) * widen.bias();
      }
      for (int e = 0; e < dim; e += 8) {
        Batch<Arch> even = Batch<Arch>::load_aligned(output + e);
        Batch<Arch> odd = Batch<Arch>::load_aligned(output + e + 4);
        for (int n = 0; n < kRuns; ++n) {
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
void score_row_of_halves(const float* /*query*/, float /*unit*/, const Runs& /*keys*/, int /*dim*/, float* /*scores*/) {
}
template <class Arch>
void add_halves_to_row(const float* /*weights*/, const Runs& /*values*/, int /*dim*/, float* /*output*/) {}
inline void order_halves_of_row(int /*dim*/, float* /*output*/) {}
#endif

}  // namespace heed::kernels
