// The linear layer, x W^T + b, with what follows it: PyTorch's orientation, weights packed once.
#pragma once

#include "heed/pointwise.hpp"

namespace heed {

/// A matrix as it comes: element (o, i) lies at o * output_stride + i * input_stride.
struct WeightMatrix {
  const float* data = nullptr;
  Index outputs = 0;
  Index inputs = 0;
  Index output_stride = 0;
  Index input_stride = 0;
};

/// The floats that a packed matrix takes on this machine.
Index packed_floats(Index outputs, Index inputs);

/// Packs a matrix for affine() on this machine: `packed` has room for packed_floats(), aligned to 64 bytes.
Status pack_weights(const WeightMatrix& matrix, float* packed);

struct AffineInputs {
  Rows<const float> input;  // [rows, inputs]
  const float* weights;     // packed
};

/// output[rows, outputs] = rule(input W^T). One row alone may differ in the last bits from the same among several; else
/// the same bits come out for any number of rows and workers. Nothing may overlap. Fails without writing when an input
/// breaks a rule.
Status affine(const AffineInputs& inputs, const Pointwise& rule, const Rows<float>& output, Executor& executor,
              const StopFlag* stop = nullptr);

}  // namespace heed
