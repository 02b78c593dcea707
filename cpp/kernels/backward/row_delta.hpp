// delta = rowsum(dO * O): the mean of the gradients of a row's weights, by the weights themselves.
#pragma once

#include "kernels/memory/widen.hpp"

namespace heed::kernels {

/// The dot product of two rows. Where a number of `b` is zero, that of `a` does not count, NaN or not.
[[gnu::noinline]] inline float dot_rows(KvRow a, KvRow b, int dim) {
  Batch sum(0.0F);
  for (int i = 0; i < dim; i += kLanes) {
    const int count = dim - i < kLanes ? dim - i : kLanes;
    const Batch other = load_widened(b, i, count);
    sum = multiply_add(xsimd::select(other == Batch(0.0F), other, load_widened(a, i, count)), other, sum);
  }
  return xsimd::reduce_add(sum);
}

float row_delta(const float* output_gradient, const float* output, int value_dim) {
  return dot_rows({output_gradient, DType::f32}, {output, DType::f32}, value_dim);
}

}  // namespace heed::kernels
