// The linear layer, x W^T + b, with what follows it: PyTorch's orientation, weights packed once.
#pragma once

#include "operations/common/pointwise_rule.hpp"

namespace heed {

struct AffineInputs {
  Rows<const float> input;  // [rows, inputs]
  const float* weights;     // made by pack_weights()
};

/// output[rows, outputs] = rule(input W^T). The same bits come out for any number of rows and workers. Nothing may
/// overlap. Fails without writing when an input breaks a rule.
Status affine(const AffineInputs& inputs, const Pointwise& rule, const Rows<float>& output, Executor& executor,
              const StopFlag* stop = nullptr);

struct AffineCall {
  CallHeader header;
  PackedView input;
  PackedView weights;
  PackedPointwise rule;
  PackedView output;

  HEED_FIELDS(header, input, weights, rule, output)
};

Status run(const AffineCall& call, Executor& executor);

}  // namespace heed
