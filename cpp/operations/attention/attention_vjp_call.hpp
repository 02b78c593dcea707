// The packed call of the backward pass of attention.
#pragma once

#include "operations/attention/attention_call.hpp"

namespace heed {

/// It begins with the call of the forward pass, whose output and lse are read here; its other results are left alone.
/// A gradient whose address is 0 is not wanted. Each has the shape of what it is the gradient of.
struct AttentionVjpCall {
  PackedCall<AttentionCall> forward;
  PackedView output_gradient;   // what the loss says of the output
  PackedView weights_gradient;  // of the weights, [B, H, L, S]; may be absent
  PackedView query_gradient;
  PackedView key_gradient;
  PackedView value_gradient;
  PackedView bias_gradient;
  ScoreParameters<PackedView> score_gradient;
  PackedView sinks_gradient;      // one number a query head of the call
  PackedView log_scale_gradient;  // one number: see AttentionGradients
  PackedView tables_gradient;     // of all tables, one after the other, as one row
  std::int32_t score_slope;       // programs among the words of the expressions: see ExpressionSlopes
  std::int32_t weight_slope;
  std::uint32_t table_reads;  // address of TableReads, and how many
  std::int32_t table_read_count;

  HEED_FIELDS(forward, output_gradient, weights_gradient, query_gradient, key_gradient, value_gradient, bias_gradient,
              score_gradient.w, score_gradient.wq, score_gradient.wk, score_gradient.b, score_gradient.v,
              score_gradient.bandwidth, sinks_gradient, log_scale_gradient, tables_gradient, score_slope, weight_slope,
              table_reads, table_read_count)
};

Status run(const AttentionVjpCall& call, Executor& executor);

}  // namespace heed
