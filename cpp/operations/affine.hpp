// The linear layer, x W^T + b, with what follows it: PyTorch's orientation, weights packed once.
#pragma once

#include "operations/common/pointwise_rule.hpp"

namespace heed {

/// output[rows, outputs] = rule(input W^T).
struct AffineCall {
  Rows<const float> input;  // [rows, inputs]
  const float* weights;     // made by pack_weights()
  Pointwise rule = {};
  Rows<float> output;

  HEED_FIELDS(input, weights, rule, output)
};

/// The same bits come out for any number of rows and workers. Nothing may overlap. Fails without writing when an input
/// breaks a rule.
Status run(const AffineCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
