// The backward pass of LayerNorm and RMSNorm.
#pragma once

#include "operations/norm.hpp"

namespace heed {

/// The gradients of the weight and the bias, sums over all rows, are [1, length]. They are written also where the norm
/// has neither.
struct NormBackwardCall {
  Rows<const float> input;
  Rows<const float> gradient;  // of the output
  RowNorm norm = {};
  Rows<float> input_gradient;
  Rows<float> weight_gradient;
  Rows<float> bias_gradient;

  HEED_FIELDS(input, gradient, norm, input_gradient, weight_gradient, bias_gradient)
};

/// Rows are summed in fixed blocks, so that the same bits come out for any number of workers. Nothing may overlap.
/// Fails without writing when an input breaks a rule.
Status run(const NormBackwardCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
