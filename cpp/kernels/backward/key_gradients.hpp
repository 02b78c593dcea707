// dV += P^T dO and dK += dS^T Q of a KV block: their depth is the rows of a task, whose weights lie in lanes.
#pragma once

#include "kernels/gemm/register_tile.hpp"

namespace heed::kernels {

/// A row counts only for the keys where its weight or gradient is not zero.
struct AddAttendedRow {
  Batch operator()(int /*k*/, Batch row, Batch number, Batch sum) const {
    const Batch zero(0.0F);
    return multiply_add(xsimd::select(number == zero, zero, row), number, sum);
  }
};

/// Panels[lines][kPanel] of the numbers of `keys` keys, and the rows in their lanes.
struct KeyGradientInput {
  TransposedOperands operands;
  int keys;
  int dim;          // of the rows, in whole panels
  bool are_finite;  // the rows
};

template <int kRows, class Add>
void add_tile(const KeyGradientInput& input, int row, float* gradient) {
  const std::ptrdiff_t stride = input.operands.rows.stride;
  TransposedOperands operands = input.operands;
  operands.panels += row * kPanel;
  // The numbers of a tile of keys are read again for each column while they are in the first-level cache.
  for (int column = 0; column < input.dim; column += kPanel) {
    multiply_tn<kRows, Add>(operands, gradient + row * stride + column, stride);
    operands.rows.data += kPanel;
  }
}

/// gradient[key][dim] += what the rows add.
inline void add_key_gradients(const KeyGradientInput& input, float* gradient) {
  if (input.are_finite) {
    for_each_tile(input.keys, [&]<int kRows>(int row) { add_tile<kRows, MultiplyAdd>(input, row, gradient); });
  } else {
    for (int row = 0; row < input.keys; ++row) add_tile<1, AddAttendedRow>(input, row, gradient);
  }
}

}  // namespace heed::kernels
