// The two products of attention for one row whose keys, or values, are halves that are known to be finite: widened in
// registers, where writing and reading them once more would take as long as the products do.
#pragma once

#include "kernels/half.hpp"
#include "kernels/row_products.hpp"

namespace heed::kernels {

/// Halves in lines `stride` apart.
struct HalfLines {
  const std::uint16_t* halves;
  std::ptrdiff_t stride;
};

#ifdef __wasm_simd128__
inline bool may_widen_in_registers(const HeadRows& rows, int dim) {
  return rows.first.precision == Precision::half && rows.is_finite && dim % 16 == 0;
}

/// Of each eight numbers those at even places first, as halves are widened.
inline void part_even_from_odd(float* numbers, int count) {
  for (int i = 0; i < count; i += 8) {
    const v128_t first = wasm_v128_load(numbers + i);
    const v128_t second = wasm_v128_load(numbers + i + 4);
    wasm_v128_store(numbers + i, wasm_i32x4_shuffle(first, second, 0, 2, 4, 6));
    wasm_v128_store(numbers + i + 4, wasm_i32x4_shuffle(first, second, 1, 3, 5, 7));
  }
}

/// The way back.
inline void join_even_and_odd(float* numbers, int count) {
  for (int i = 0; i < count; i += 8) {
    const v128_t even = wasm_v128_load(numbers + i);
    const v128_t odd = wasm_v128_load(numbers + i + 4);
    wasm_v128_store(numbers + i, wasm_i32x4_shuffle(even, odd, 0, 4, 1, 5));
    wasm_v128_store(numbers + i + 4, wasm_i32x4_shuffle(even, odd, 2, 6, 3, 7));
  }
}

/// Makes of a query what meets halves as they lie, times a power of two by which neither its numbers nor their
/// products with halves times 2^-112 leave single precision. Gives the products' unit.
inline float make_ready_for_halves(float* query, int dim) {
  const float factor = largest_size(query, dim) < 0x1p60F ? 0x1p64F : 1.0F;
  for (int d = 0; d < dim; ++d) query[d] *= factor;
  part_even_from_odd(query, dim);
  return 0x1p112F / factor;
}

/// Scores of the row, key after key, with room up to a whole vector. The query is loaded once for two keys: more would
/// come from memory at half of its rate.
template <class Arch>
[[gnu::noinline]] void score_row_of_halves(const float* query, float unit, const HalfLines& keys, int dim, int count,
                                           float* scores) {
  const FiniteHalves<Arch> widen;
  for_each_far_line(count, 4, [&](int j) {
    Batch<Arch> square[4];
    for (int i = 0; i < 4; i += 2) {
      const int last = count - 1;
      const std::uint16_t* const key = keys.halves + (j + i < last ? j + i : last) * keys.stride;
      const std::uint16_t* const next = key + (j + i < last ? keys.stride : 0);
      Batch<Arch> sums[4];
      for (Batch<Arch>& sum : sums) sum = Batch<Arch>(0.0F);
      for (int d = 0; d < dim; d += 8) {
        const Batch<Arch> even = Batch<Arch>::load_aligned(query + d);
        const Batch<Arch> odd = Batch<Arch>::load_aligned(query + d + 4);
        const v128_t halves = wasm_v128_load(key + d);
        const v128_t others = wasm_v128_load(next + d);
        sums[0] = multiply_add<Arch>(widen.even(halves), even, sums[0]);
        sums[1] = multiply_add<Arch>(widen.odd(halves), odd, sums[1]);
        sums[2] = multiply_add<Arch>(widen.even(others), even, sums[2]);
        sums[3] = multiply_add<Arch>(widen.odd(others), odd, sums[3]);
      }
      square[i] = sums[0] + sums[1];
      square[i + 1] = sums[2] + sums[3];
    }
    (sum_lanes<Arch>(square) * Batch<Arch>(unit)).store_aligned(scores + j);
  });
}

/// output[dim] += weights x values, two lines at a time; weights of at most 1.
template <class Arch>
[[gnu::noinline]] void add_halves_to_row(const float* weights, HalfLines values, int dim, int runs, int first,
                                         int count, float* output) {
  const FiniteHalves<Arch> widen;
  part_even_from_odd(output, dim);
  for_each_far_pair(runs, first, count, [&](int j, int lines) {
    const bool is_pair = lines == 2;
    const std::uint16_t* const line = values.halves + j * values.stride;
    const std::uint16_t* const next = line + (is_pair ? values.stride : 0);
    const Batch<Arch> weight = Batch<Arch>(weights[j]) * widen.bias();
    const Batch<Arch> next_weight = Batch<Arch>(is_pair ? weights[j + 1] : 0.0F) * widen.bias();
    for (int e = 0; e < dim; e += 8) {
      const v128_t halves = wasm_v128_load(line + e);
      const v128_t others = wasm_v128_load(next + e);
      const Batch<Arch> even = multiply_add<Arch>(widen.even(halves), weight, Batch<Arch>::load_aligned(output + e));
      const Batch<Arch> odd = multiply_add<Arch>(widen.odd(halves), weight, Batch<Arch>::load_aligned(output + e + 4));
      multiply_add<Arch>(widen.even(others), next_weight, even).store_aligned(output + e);
      multiply_add<Arch>(widen.odd(others), next_weight, odd).store_aligned(output + e + 4);
    }
  });
  join_even_and_odd(output, dim);
}
#else
/// Elsewhere widening is no more than reading.
inline bool may_widen_in_registers(const HeadRows& /*rows*/, int /*dim*/) { return false; }
inline float make_ready_for_halves(float* /*query*/, int /*dim*/) { return 1.0F; }
template <class Arch>
void score_row_of_halves(const float* /*query*/, float /*unit*/, const HalfLines& /*keys*/, int /*dim*/, int /*count*/,
                         float* /*scores*/) {}
template <class Arch>
void add_halves_to_row(const float* /*weights*/, HalfLines /*values*/, int /*dim*/, int /*runs*/, int /*first*/,
                       int /*count*/, float* /*output*/) {}
#endif

}  // namespace heed::kernels
