// The backward pass of LayerNorm and RMSNorm. With y = n w + b, n = (x - mean) / deviation and g = dy w:
// dx = (g - mean(g) - n mean(g n)) / deviation, without mean(g) for RMSNorm; dw += dy n; db += dy.
#pragma once

#include "kernels/layers/moments.hpp"
#include "kernels/layers/training_tasks.hpp"

namespace heed::kernels {

inline void norm_backward_row(const NormBackwardTask& task, int index) {
  const NormTask& forward = task.forward;
  const int length = forward.length;
  const float* const row = forward.source + index * forward.source_stride;
  const float* const gradients = task.gradient + index * task.gradient_stride;
  float* const target = task.source_gradient + index * task.source_gradient_stride;
  const RowMoments moments = exact_moments(forward, row);
  const Batch factor(moments.factor), mean(moments.mean), to_scale(moments.scale);
  const auto normalized = [&](int i, int count) {
    return multiply_add(load_some(row + i, count), to_scale, -mean) * factor;
  };
  const auto weighted = [&](int i, int count) {
    const Batch gradient = load_some(gradients + i, count);
    return forward.weight == nullptr ? gradient : gradient * load_some(forward.weight + i, count);
  };
  Batch sum(0.0F), product_sum(0.0F);
  for (int i = 0; i < length; i += kLanes) {
    const int count = length - i < kLanes ? length - i : kLanes;
    const Batch gradient = weighted(i, count);  // zero beyond the row's end
    sum += gradient;
    product_sum = multiply_add(gradient, normalized(i, count), product_sum);
  }
  const auto numbers = static_cast<float>(length);
  const Batch gradient_mean(forward.is_centred ? xsimd::reduce_add(sum) / numbers : 0.0F);
  const Batch product_mean(xsimd::reduce_add(product_sum) / numbers);
  // The deviation of x itself, not of x times `scale`.
  const Batch inverse(moments.factor * moments.scale);
  for (int i = 0; i < length; i += kLanes) {
    const int count = length - i < kLanes ? length - i : kLanes;
    const Batch number = normalized(i, count);
    const Batch gradient = load_some(gradients + i, count);
    store_some((weighted(i, count) - gradient_mean - number * product_mean) * inverse, target + i, count);
    store_some(multiply_add(gradient, number, load_some(task.weight_sums + i, count)), task.weight_sums + i, count);
    store_some(gradient + load_some(task.bias_sums + i, count), task.bias_sums + i, count);
  }
}

void norm_backward(const NormBackwardTask& task) {
  for (int index = 0; index < task.forward.row_count; ++index) norm_backward_row(task, index);
}

}  // namespace heed::kernels
