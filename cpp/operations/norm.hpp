// LayerNorm and RMSNorm.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

struct RowNorm {
  bool is_centred = true;  // LayerNorm; else RMSNorm, which leaves the mean out
  float epsilon = 1e-5F;
  const float* weight = nullptr;  // one a column; null: ones
  const float* bias = nullptr;    // likewise; null: zeros

  HEED_FIELDS(is_centred, epsilon, weight, bias)
};

struct NormCall {
  Rows<const float> input;
  RowNorm norm = {};
  Rows<float> output;

  HEED_FIELDS(input, norm, output)
};

/// output = (x - mean) / sqrt(variance + epsilon) * weight + bias of every row, the variance from differences to the
/// mean, so that no cancellation spoils it; rows whose squares leave the range of f32 come out as well. Nothing may
/// overlap. Fails without writing when an input breaks a rule.
Status run(const NormCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
