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

/// Makes of a query what meets halves as they lie, times a power of two by which neither its numbers nor their
/// products with halves times 2^-112 leave single precision. Gives the products' unit.
inline float make_ready_for_halves(float* query, int dim) {
  const float factor = largest_size(query, dim) < 0x1p60F ? 0x1p64F : 1.0F;
  for (int d = 0; d < dim; ++d) query[d] *= factor;
  return 0x1p112F / factor;
}

/// Scores of the row, two keys of each run by turns. The query is loaded once for both: more would come from memory at
/// half of its rate.
template <class Arch>
[[gnu::noinline]] void score_row_of_halves(const float* query, float unit, const Runs& keys, int dim, float* scores) {
  const FiniteHalves<Arch> widen;
  const auto score = [&](int run, int j, int other, Batch<Arch>* results) {
    const std::uint16_t* const key = keys.halves(run, j);
    const std::uint16_t* const next = keys.halves(run, other);
    Batch<Arch> sums[4];
    for (Batch<Arch>& sum : sums) sum = Batch<Arch>(0.0F);
    for (int d = 0; d < dim; d += 8) {
      const Batch<Arch> first = Batch<Arch>::load_aligned(query + d);
      const Batch<Arch> second = Batch<Arch>::load_aligned(query + d + 4);
      const auto numbers = widen(key + d);
      const auto others = widen(next + d);
      sums[0] = multiply_add<Arch>(numbers.first, first, sums[0]);
      sums[1] = multiply_add<Arch>(numbers.second, second, sums[1]);
      sums[2] = multiply_add<Arch>(others.first, first, sums[2]);
      sums[3] = multiply_add<Arch>(others.second, second, sums[3]);
    }
    results[0] = sums[0] + sums[1];
    results[1] = sums[2] + sums[3];
  };
  for_each_four<Batch<Arch>>(keys, score, [&](int run, int at, int count, Batch<Arch>(&square)[4]) {
    store_some<Arch>(sum_lanes<Arch>(square) * Batch<Arch>(unit), scores + keys.place(run, at), count);
  });
}

/// output[dim] += weights x values, two lines at a time; weights of at most 1.
template <class Arch>
[[gnu::noinline]] void add_halves_to_row(const float* weights, const Runs& values, int dim, float* output) {
  const FiniteHalves<Arch> widen;
  for (const Stretch& stretch : stretches_of(values)) {
    // Two runs' lines, or, where there is but one run, two of its own.
    const bool is_lone = stretch.runs == 1;
    for (int at = stretch.begin; at < stretch.end; at += is_lone ? 2 : 1) {
      for (int run = stretch.first_run; run < stretch.end_run(); run += 2) {
        const int next_run = is_lone ? run : run + 1;
        const int next_at = is_lone ? at + 1 : at;
        const bool is_pair = next_run < stretch.end_run() && next_at < stretch.end;
        const std::uint16_t* const line = values.halves(run, at);
        const std::uint16_t* const next = is_pair ? values.halves(next_run, next_at) : line;
        const Batch<Arch> weight = Batch<Arch>(weights[values.place(run, at)]) * widen.bias();
        const Batch<Arch> next_weight =
            Batch<Arch>(is_pair ? weights[values.place(next_run, next_at)] : 0.0F) * widen.bias();
        for (int e = 0; e < dim; e += 8) {
          const auto numbers = widen(line + e);
          const auto others = widen(next + e);
          const auto add = [&](float* sums, Batch<Arch> number, Batch<Arch> other) {
            const Batch<Arch> sum = multiply_add<Arch>(number, weight, Batch<Arch>::load_aligned(sums));
            multiply_add<Arch>(other, next_weight, sum).store_aligned(sums);
          };
          add(output + e, numbers.first, others.first);
          add(output + e + 4, numbers.second, others.second);
        }
      }
    }
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
#endif

}  // namespace heed::kernels
