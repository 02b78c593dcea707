// Whether rows are finite.
#pragma once

#include "kernels/memory/kv_rows.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

/// True when none of `count` values is infinite or NaN, so that a weight of zero takes it out of a sum.
inline bool are_all_finite(const FloatRows& values, int count, int value_dim) {
  constexpr int lanes = kLanes;
  constexpr std::ptrdiff_t next = lanes;
  const Batch zero(0.0F);
  constexpr int sums = 4;  // that do not wait for each other
  Batch zeros[sums];       // stay zero unless 0 * value is NaN
  for (Batch& sum : zeros) sum = zero;
  for (int j = 0; j < count; ++j) {
    const float* const value = values.row(j);
    int e = 0;
    for (; e + sums * lanes <= value_dim; e += sums * lanes) {
      for (int s = 0; s < sums; ++s) {
        zeros[s] = multiply_add(Batch::load_unaligned(value + e + s * next), zero, zeros[s]);
      }
    }
    for (; e < value_dim; e += lanes) {
      const int left = value_dim - e < lanes ? value_dim - e : lanes;
      zeros[0] = multiply_add(load_some(value + e, left), zero, zeros[0]);
    }
  }
  return xsimd::all((zeros[0] + zeros[1]) + (zeros[2] + zeros[3]) == zero);
}

}  // namespace heed::kernels
