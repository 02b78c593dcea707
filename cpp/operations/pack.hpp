// Packs the matrices of linear layers, once, into the panels that the packed GEMM reads.
#pragma once

#include "heed/status.hpp"
#include "operations/common/call.hpp"

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

struct PackCall {
  CallHeader header;
  PackedView matrix;  // [1, matrices, outputs, inputs], of any strides
  PackedView packed;  // [1, 1, 1, floats]: one after the other

  HEED_FIELDS(header, matrix, packed)
};

Status run(const PackCall& call, Executor& executor);

}  // namespace heed
