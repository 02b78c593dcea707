// One step of a gated recurrent unit back: the gradients of its gates, the gates computed again.
#pragma once

#include "kernels/layers/activations.hpp"
#include "kernels/layers/training_tasks.hpp"
#include "kernels/simd/transpose.hpp"

namespace heed::kernels {

void gru_step_backward(const GruStepBackwardTask& task) {
  const Logistic logistic;
  const Tanh tanh;
  const Batch one(1.0F);
  for (int i = 0; i < task.length; i += kLanes) {
    const int count = task.length - i < kLanes ? task.length - i : kLanes;
    const auto load = [i, count](const float* numbers) { return load_some(numbers + i, count); };
    const auto hidden = [&](int gate) {
      const Batch product = load(task.hidden[gate]);
      return task.bias[gate] == nullptr ? product : product + load(task.bias[gate]);
    };
    const Batch reset = logistic(load(task.input[0]) + hidden(0));
    const Batch keep = logistic(load(task.input[1]) + hidden(1));
    const Batch inner = hidden(2);
    const Batch fresh = tanh(multiply_add(reset, inner, load(task.input[2])));
    const Batch gradient = load(task.carry);
    const Batch of_fresh = gradient * (one - keep) * (one - fresh) * (one + fresh);
    const Batch of_keep = gradient * (load(task.state) - fresh) * keep * (one - keep);
    const Batch of_reset = of_fresh * inner * reset * (one - reset);
    const Batch of_input[] = {of_reset, of_keep, of_fresh};
    const Batch of_hidden[] = {of_reset, of_keep, of_fresh * reset};
    for (int gate = 0; gate < 3; ++gate) {
      store_some(of_input[gate], task.input_gradient[gate] + i, count);
      store_some(of_hidden[gate], task.hidden_gradient[gate] + i, count);
    }
    store_some(gradient * keep, task.carry + i, count);
  }
}

}  // namespace heed::kernels
