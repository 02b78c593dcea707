#include "operations/attention/attention_vjp_call.hpp"

#include "heed/attention_vjp.hpp"
#include "operations/attention/unpack_call.hpp"

namespace heed {
namespace {

AttentionVjpInputs unpack_vjp_inputs(const AttentionVjpCall& call) {
  const AttentionCall& forward = call.forward.call;
  return {.forward = unpack_inputs(forward),
          .output = unpack<const float>(forward.output),
          .log_sum_exp = unpack<const float>(forward.lse),
          .output_gradient = unpack<const float>(call.output_gradient),
          .slopes = {.score = call.score_slope,
                     .weight = call.weight_slope,
                     .reads = pointer<const TableRead>(call.table_reads),
                     .read_count = call.table_read_count},
          .weights_gradient = unpack<const float>(call.weights_gradient)};
}

AttentionGradients unpack_gradients(const AttentionVjpCall& call) {
  return {.query = unpack<float>(call.query_gradient),
          .key = unpack<float>(call.key_gradient),
          .value = unpack<float>(call.value_gradient),
          .bias = unpack<float>(call.bias_gradient),
          .sinks = pointer<float>(call.sinks_gradient.address),
          .log_scale = pointer<float>(call.log_scale_gradient.address),
          .score = unpack_parameters<float>(call.score_gradient),
          .tables = pointer<float>(call.tables_gradient.address),
          .table_numbers = call.tables_gradient.shape[3]};
}

}  // namespace

Status run(const AttentionVjpCall& call, Executor& executor) {
  return attention_vjp(unpack_vjp_inputs(call), unpack_options(call.forward.call), unpack_gradients(call), executor);
}

}  // namespace heed
