// The linear layer with stored weights, x W^T + b, and what follows it.
#pragma once

#include "operations/common/pointwise_rule.hpp"

namespace heed {

/// output[rows, outputs] = rule(input W^T), where the input is rounded to whole numbers, a group of 32 by itself.
struct NarrowAffineCall {
  WeightFormat format = WeightFormat::int8;
  Rows<const float> input;         // [rows, inputs]
  const float* weights = nullptr;  // made by PackNarrowCall
  Pointwise rule = {};
  Rows<float> output;

  HEED_FIELDS(format, input, weights, rule, output)
};

/// The same bits come out for any number of rows and workers, in every build. Nothing may overlap.
Status run(const NarrowAffineCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
