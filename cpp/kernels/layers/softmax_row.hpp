// The softmax of a row, and its gradient.
#pragma once

#include <limits>
#include <numbers>

#include "kernels/layers/optimizers.hpp"
#include "kernels/layers/training_tasks.hpp"
#include "kernels/simd/exp2.hpp"

namespace heed::kernels {

/// p (g - sum p g).
inline void softmax_row_backward(const SoftmaxTask& task) {
  const auto& [weights, gradient, target, length] = task;
  Batch sums(0.0F);
  for_each_vector(length, [&](int i, int count) {
    sums = multiply_add(load_some(weights + i, count), load_some(gradient + i, count), sums);
  });
  const Batch mean(xsimd::reduce_add(sums));
  for_each_vector(length, [&](int i, int count) {
    store_some(load_some(weights + i, count) * (load_some(gradient + i, count) - mean), target + i, count);
  });
}

/// Numbers of -infinity have weights of 0, also where all are.
void softmax_row(const SoftmaxTask& task) {
  if (task.gradient != nullptr) {
    softmax_row_backward(task);
    return;
  }
  const auto& [source, gradient, target, length] = task;
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  float most = lowest;
  for (int i = 0; i < length; ++i) most = source[i] > most ? source[i] : most;
  const Exp2 exp2(kExp2OfResults);
  const Batch highest(most == lowest ? 0.0F : most), to_binary(std::numbers::log2e_v<float>), zero(0.0F);
  Batch sums(0.0F);
  for_each_vector(length, [&](int i, int count) {
    const Batch number = load_some(source + i, count);
    const Batch power = exp2((number - highest) * to_binary);
    store_some(xsimd::select(number == Batch(lowest), zero, power), target + i, count);
    // Lanes beyond the end would be counted.
    sums += load_some(target + i, count);
  });
  const float total = xsimd::reduce_add(sums);
  const Batch factor(total == 0.0F ? 0.0F : 1.0F / total);
  for_each_vector(length,
                  [&](int i, int count) { store_some(load_some(target + i, count) * factor, target + i, count); });
}

}  // namespace heed::kernels
