// Sums of two tensors, and the sum of the squares of one.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output = a x + b y; an absent y is zeros. Nothing may overlap. Fails without writing when an input breaks a rule.
struct Combination {
  Rows<const float> x;
  Rows<const float> y;
  float a = 1.0F;
  float b = 1.0F;
};
Status combine(const Combination& combination, const Rows<float>& output, Executor& executor,
               const StopFlag* stop = nullptr);

struct CombineCall {
  CallHeader header;
  PackedView x;
  PackedView y;
  float a;
  float b;
  PackedView output;

  HEED_FIELDS(header, x, y, a, b, output)
};

Status run(const CombineCall& call, Executor& executor);

/// output[0, 0] = the sum of the squares of all numbers.
Status square_sum(const Rows<const float>& rows, const Rows<float>& output);

struct SquareSumCall {
  CallHeader header;
  PackedView rows;
  PackedView output;

  HEED_FIELDS(header, rows, output)
};

Status run(const SquareSumCall& call, Executor& executor);

}  // namespace heed
