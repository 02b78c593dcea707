// The backward pass of target = activation(source) * factor.
#pragma once

#include "heed/vocabulary.hpp"
#include "operations/common/rows.hpp"

namespace heed {

struct PointwiseBackwardInputs {
  Rows<const float> gradient;  // of the target
  Rows<const float> source;
  Rows<const float> factor;  // absent: ones
  Activation activation = Activation::none;
};

struct PointwiseBackwardOutputs {
  Rows<float> source;
  Rows<float> factor;  // absent: not asked for
};

/// The gradients of source and factor; all have the shape of the target. Nothing may overlap. Fails without writing
/// when an input breaks a rule.
Status pointwise_backward(const PointwiseBackwardInputs& inputs, const PointwiseBackwardOutputs& outputs,
                          Executor& executor, const StopFlag* stop = nullptr);

struct PointwiseBackwardCall {
  CallHeader header;
  PackedView gradient;
  PackedView source;
  PackedView factor;
  Activation activation;
  PackedView source_gradient;
  PackedView factor_gradient;

  HEED_FIELDS(header, gradient, source, factor, activation, source_gradient, factor_gradient)
};

Status run(const PointwiseBackwardCall& call, Executor& executor);

}  // namespace heed
