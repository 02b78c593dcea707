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

/// Makes of a query what meets halves as they lie: of each eight numbers those at even places first, times a power of
/// two by which neither they nor their products with halves times 2^-112 leave single precision. Gives the products'
/// unit.
inline float make_ready_for_halves(float* query, int dim) {
  const float factor = largest_size(query, dim) < 0x1p60F ? 0x1p64F : 1.0F;
  for (int d = 0; d < dim; d += 8) {
    const v128_t first = wasm_f32x4_mul(wasm_v128_load(query + d), wasm_f32x4_splat(factor));
    const v128_t second = wasm_f32x4_mul(wasm_v128_load(query + d + 4), wasm_f32x4_splat(factor));
    wasm_v128_store(query + d, wasm_i32x4_shuffle(first, second, 0, 2, 4, 6));
    wasm_v128_store(query + d + 4, wasm_i32x4_shuffle(first, second, 1, 3, 5, 7));
  }
  return 0x1p112F / factor;
}

/// Scores of the row, key after key, with room up to a whole vector.
template <class Arch>
[[gnu::noinline]] void score_row_of_halves(const float* query, float unit, const HalfLines& keys, int dim, int count,
                                           float* scores) {
  const FiniteHalves<Arch> widen;
  for (int j = 0; j < count; j += 4) {
    const int left = count - j;
    Batch<Arch> square[4];
    for (int i = 0; i < 4; ++i) {
      const std::uint16_t* const key = keys.halves + (j + (i < left ? i : left - 1)) * keys.stride;
      Batch<Arch> sums[4];
      for (Batch<Arch>& sum : sums) sum = Batch<Arch>(0.0F);
      for (int d = 0; d < dim; d += 16) {
        for (int s = 0; s < 4; s += 2) {
          const v128_t halves = wasm_v128_load(key + d + 4 * s);
          const float* const numbers = query + d + 4 * s;
          sums[s] = multiply_add<Arch>(widen.even(halves), Batch<Arch>::load_aligned(numbers), sums[s]);
          sums[s + 1] = multiply_add<Arch>(widen.odd(halves), Batch<Arch>::load_aligned(numbers + 4), sums[s + 1]);
        }
      }
      square[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    (sum_lanes<Arch>(square) * Batch<Arch>(unit)).store_aligned(scores + j);
  }
}

/// output[dim] += weights x values, two lines at a time; weights of at most 1.
template <class Arch>
[[gnu::noinline]] void add_halves_to_row(const float* weights, HalfLines values, int dim, int count, float* output) {
  const FiniteHalves<Arch> widen;
  for (int j = 0; j < count; j += 2) {
    const bool is_pair = j + 1 < count;
    const std::uint16_t* const line = values.halves + j * values.stride;
    const std::uint16_t* const next = line + (is_pair ? values.stride : 0);
    const Batch<Arch> first = Batch<Arch>(weights[j]) * widen.bias();
    const Batch<Arch> second = Batch<Arch>(is_pair ? weights[j + 1] : 0.0F) * widen.bias();
    for (int e = 0; e < dim; e += 4) {
      const Batch<Arch> sum = multiply_add<Arch>(widen.bent(line + e), first, Batch<Arch>::load_aligned(output + e));
      multiply_add<Arch>(widen.bent(next + e), second, sum).store_aligned(output + e);
    }
  }
}
#else
/// Elsewhere widening is no more than reading.
inline bool may_widen_in_registers(const HeadRows& /*rows*/, int /*dim*/) { return false; }
inline float make_ready_for_halves(float* /*query*/, int /*dim*/) { return 1.0F; }
template <class Arch>
void score_row_of_halves(const float* /*query*/, float /*unit*/, const HalfLines& /*keys*/, int /*dim*/, int /*count*/,
                         float* /*scores*/) {}
template <class Arch>
void add_halves_to_row(const float* /*weights*/, HalfLines /*values*/, int /*dim*/, int /*count*/, float* /*output*/) {}
#endif

}  // namespace heed::kernels
