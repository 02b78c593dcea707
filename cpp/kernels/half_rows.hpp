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

/// Scores of the row, four keys side by side.
template <class Arch>
[[gnu::noinline]] void score_row_of_halves(const float* query, const HalfLines& keys, int dim, int count,
                                           float* scores) {
  const FiniteHalves<Arch> widen;
  for (int j = 0; j < count; j += 4) {
    const int left = count - j;
    const std::uint16_t* lines[4];
    for (int i = 0; i < 4; ++i) lines[i] = keys.halves + (j + (i < left ? i : left - 1)) * keys.stride;
    Batch<Arch> sums[4];
    for (Batch<Arch>& sum : sums) sum = Batch<Arch>(0.0F);
    for (int d = 0; d < dim; d += 4) {
      const Batch<Arch> numbers = Batch<Arch>::load_aligned(query + d);
      for (int i = 0; i < 4; ++i) sums[i] = multiply_add<Arch>(widen(lines[i] + d), numbers, sums[i]);
    }
    xsimd::transpose(sums, sums + 4);
    store_some<Arch>((sums[0] + sums[1]) + (sums[2] + sums[3]), scores + j, left < 4 ? left : 4);
  }
}

/// output[dim] += weights x values: sixteen numbers of some lines at a time, while others come from memory.
template <class Arch>
[[gnu::noinline]] void add_halves_to_row(const float* weights, HalfLines values, int dim, int count, float* output) {
  const FiniteHalves<Arch> widen;
  for (int left = count; left > 0; left -= kChunkLines, weights += kChunkLines) {
    const int some = left < kChunkLines ? left : kChunkLines;
    for (int e = 0; e < dim; e += 16) {
      Batch<Arch> sums[4];
      for (int v = 0; v < 4; ++v) sums[v] = Batch<Arch>::load_aligned(output + e + 4 * v);
      const std::uint16_t* line = values.halves + e;
      for (int j = 0; j < some; ++j, line += values.stride) {
        const Batch<Arch> weight = Batch<Arch>::broadcast(weights[j]);
        for (int v = 0; v < 4; ++v) sums[v] = multiply_add<Arch>(weight, widen(line + 4 * v), sums[v]);
      }
      for (int v = 0; v < 4; ++v) sums[v].store_aligned(output + e + 4 * v);
    }
    values.halves += some * values.stride;
  }
}
#else
/// Elsewhere widening is no more than reading.
inline bool may_widen_in_registers(const HeadRows& /*rows*/, int /*dim*/) { return false; }
template <class Arch>
void score_row_of_halves(const float* /*query*/, const HalfLines& /*keys*/, int /*dim*/, int /*count*/,
                         float* /*scores*/) {}
template <class Arch>
void add_halves_to_row(const float* /*weights*/, HalfLines /*values*/, int /*dim*/, int /*count*/, float* /*output*/) {}
#endif

}  // namespace heed::kernels
