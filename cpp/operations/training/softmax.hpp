// The softmax of rows, and its backward pass.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output = the softmax of every row of `rows`; numbers of -infinity have weights of 0. With the gradient of a softmax
/// that `rows` are, output = the gradient of what it was made of.
struct SoftmaxCall {
  Rows<const float> rows;
  Rows<const float> gradient = {};
  Rows<float> output;

  HEED_FIELDS(rows, gradient, output)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const SoftmaxCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
