// The backward pass of target = activation(source) * factor.
#pragma once

#include "heed/vocabulary.hpp"
#include "operations/common/rows.hpp"

namespace heed {

/// The gradients of source and factor; all have the shape of the target.
struct PointwiseBackwardCall {
  Rows<const float> gradient;  // of the target
  Rows<const float> source;
  Rows<const float> factor = {};  // absent: ones
  Activation activation = Activation::none;
  Rows<float> source_gradient;
  Rows<float> factor_gradient = {};  // absent: not asked for

  HEED_FIELDS(gradient, source, factor, activation, source_gradient, factor_gradient)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const PointwiseBackwardCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
