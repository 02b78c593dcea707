// One step of a gated recurrent unit, once the products are made.
#pragma once

#include "kernels/activations.hpp"
#include "kernels/row_blocks.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

/// See LayerKernels.
template <class Arch>
void pass_gates(const GateBlock& block) {
  const Logistic<Arch> logistic;
  const Tanh<Arch> tanh;
  for (int i = 0; i < block.length; i += kLanes<Arch>) {
    const int count = block.length - i < kLanes<Arch> ? block.length - i : kLanes<Arch>;
    const auto load = [i, count](const float* numbers) { return load_some<Arch>(numbers + i, count); };
    const auto hidden = [&](int gate) {
      const Batch<Arch> product = load(block.hidden[gate]);
      return block.bias[gate] == nullptr ? product : product + load(block.bias[gate]);
    };
    const Batch<Arch> reset = logistic(load(block.input[0]) + hidden(0));
    const Batch<Arch> keep = logistic(load(block.input[1]) + hidden(1));
    const Batch<Arch> fresh = tanh(multiply_add<Arch>(reset, hidden(2), load(block.input[2])));
    store_some<Arch>(multiply_add<Arch>(keep, load(block.state) - fresh, fresh), block.next + i, count);
  }
}

}  // namespace heed::kernels
