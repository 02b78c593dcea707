// LayerNorm and RMSNorm.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

struct RowNorm {
  bool is_centred = true;  // LayerNorm; else RMSNorm, which leaves the mean out
  float epsilon = 1e-5F;
  const float* weight = nullptr;  // one a column; null: ones
  const float* bias = nullptr;    // likewise; null: zeros

  // Once set, the call ends soon with StatusCode::aborted, its output incomplete.
  const StopFlag* stop = nullptr;
};

/// output = (x - mean) / sqrt(variance + epsilon) * weight + bias of every row, the variance from differences to the
/// mean, so that no cancellation spoils it; rows whose squares leave the range of f32 come out as well. Nothing may
/// overlap. Fails without writing when an input breaks a rule.
Status normalize_rows(const Rows<const float>& input, const RowNorm& norm, const Rows<float>& output,
                      Executor& executor);

struct NormCall {
  CallHeader header;
  PackedView input;
  PackedView weight;
  PackedView bias;
  std::int32_t is_centred;
  float epsilon;
  PackedView output;

  HEED_FIELDS(header, input, weight, bias, is_centred, epsilon, output)
};

Status run(const NormCall& call, Executor& executor);

}  // namespace heed
