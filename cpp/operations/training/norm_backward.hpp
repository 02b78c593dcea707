// The backward pass of LayerNorm and RMSNorm.
#pragma once

#include "operations/norm.hpp"

namespace heed {

struct NormBackwardInputs {
  Rows<const float> input;
  Rows<const float> gradient;  // of the output
};

/// Sums over all rows for weight and bias are [1, length]. They are written also where the norm has neither.
struct NormBackwardOutputs {
  Rows<float> input;
  Rows<float> weight;
  Rows<float> bias;
};

/// The gradients of the input, the weight and the bias of normalize_rows(). Rows are summed in fixed blocks, so that
/// the same bits come out for any number of workers. Nothing may overlap. Fails without writing when an input breaks a
/// rule.
Status norm_backward(const NormBackwardInputs& inputs, const RowNorm& norm, const NormBackwardOutputs& outputs,
                     Executor& executor);

struct NormBackwardCall {
  CallHeader header;
  PackedView input;
  PackedView weight;
  PackedView gradient;
  std::int32_t is_centred;
  float epsilon;
  PackedView input_gradient;
  PackedView weight_gradient;
  PackedView bias_gradient;

  HEED_FIELDS(header, input, weight, gradient, is_centred, epsilon, input_gradient, weight_gradient, bias_gradient)
};

Status run(const NormBackwardCall& call, Executor& executor);

}  // namespace heed
