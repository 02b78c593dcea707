#include "operations/attention/attention_call.hpp"

#include "operations/attention/unpack_call.hpp"

namespace heed {
namespace {

AttentionOutputs unpack_outputs(const AttentionCall& call) {
  AttentionOutputs outputs{.output = unpack<float>(call.output),
                           .weights = unpack<float>(call.weights),
                           .log_sum_exp = unpack<float>(call.lse),
                           .scores = unpack<float>(call.scores),
                           .entropy = unpack<float>(call.entropy),
                           .mean_weights = unpack<float>(call.mean_weights),
                           .score_stage = call.score_stage};
  if (call.weight_rows_end != kOpen) outputs.weight_rows = {call.weight_rows_begin, call.weight_rows_end};
  return outputs;
}

}  // namespace

Status run(const AttentionCall& call, Executor& executor) {
  return attention(unpack_inputs(call), unpack_options(call), unpack_outputs(call), executor);
}

}  // namespace heed
