// Sums of two tensors, and the sum of the squares of one.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output = a x + b y; an absent y is zeros.
struct CombineCall {
  Rows<const float> x;
  Rows<const float> y;
  float a = 1.0F;
  float b = 1.0F;
  Rows<float> output;

  HEED_FIELDS(x, y, a, b, output)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const CombineCall& call, Executor& executor, const StopFlag* stop = nullptr);

/// output[0, 0] = the sum of the squares of all numbers.
struct SquareSumCall {
  Rows<const float> rows;
  Rows<float> output;

  HEED_FIELDS(rows, output)
};

Status run(const SquareSumCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
