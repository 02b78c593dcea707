// The epilogue of a GEMM, or a pass of its own: bias, activation, factor, addend.
#pragma once

#include <iterator>

#include "kernels/layers/activations.hpp"
#include "kernels/layers/layer_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

template <class Function>
[[gnu::noinline]] void pointwise_rows(const PointwiseTask& task) {
  const Function activation;
  for (int index = 0; index < task.row_count; ++index) {
    const float* const source = task.source + index * task.source_stride;
    float* const target = task.target + index * task.target_stride;
    const float* const factor = task.factor.row(task.first_row + index);
    const float* const addend = task.addend.row(task.first_row + index);
    for (int i = 0; i < task.length; i += kLanes) {
      const int count = task.length - i < kLanes ? task.length - i : kLanes;
      Batch number = load_some(source + i, count);
      if (task.bias != nullptr) number += load_some(task.bias + i, count);
      number = activation(number);
      if (factor != nullptr) number *= load_some(factor + i, count);
      if (addend != nullptr) number += load_some(addend + i, count);
      store_some(number, target + i, count);
    }
  }
}

void pointwise(const PointwiseTask& task) {
  // In the order of Activation.
  static constexpr void (*kLoops[])(const PointwiseTask&) = {
      &pointwise_rows<Identity>, &pointwise_rows<Relu>, &pointwise_rows<Gelu>,    &pointwise_rows<GeluTanh>,
      &pointwise_rows<Silu>,     &pointwise_rows<Tanh>, &pointwise_rows<Logistic>};
  static_assert(std::size(kLoops) == static_cast<int>(Activation::last) + 1);
  kLoops[static_cast<int>(task.activation)](task);
}

}  // namespace heed::kernels
