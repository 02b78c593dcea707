// The gradient of a linear layer's input where its weights are stored: dX = dY W.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// output[rows, inputs] = left W + addend, of weights as they were stored. Only some rows of W are ever in f32.
struct NarrowProductCall {
  WeightFormat format = WeightFormat::int8;
  Rows<const float> left;          // [rows, outputs]
  const float* weights = nullptr;  // made by PackNarrowCall
  Rows<const float> addend;        // [rows, inputs]; absent: zeros
  Rows<float> output;

  HEED_FIELDS(format, left, weights, addend, output)
};

/// Nothing may overlap, but the output may be the addend.
Status run(const NarrowProductCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
