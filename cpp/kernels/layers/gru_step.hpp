// One step of a gated recurrent unit, once the products are made.
#pragma once

#include "kernels/layers/activations.hpp"
#include "kernels/layers/layer_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

void gru_step(const GruStepTask& task) {
  const Logistic logistic;
  const Tanh tanh;
  for (int i = 0; i < task.length; i += kLanes) {
    const int count = task.length - i < kLanes ? task.length - i : kLanes;
    const auto load = [i, count](const float* numbers) { return load_some(numbers + i, count); };
    const auto hidden = [&](int gate) {
      const Batch product = load(task.hidden[gate]);
      return task.bias[gate] == nullptr ? product : product + load(task.bias[gate]);
    };
    const Batch reset = logistic(load(task.input[0]) + hidden(0));
    const Batch keep = logistic(load(task.input[1]) + hidden(1));
    const Batch fresh = tanh(multiply_add(reset, hidden(2), load(task.input[2])));
    store_some(multiply_add(keep, load(task.state) - fresh, fresh), task.next + i, count);
  }
}

}  // namespace heed::kernels
