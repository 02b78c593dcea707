// Validates the inputs and options of linear attention and states what is left to compute.
#pragma once

#include "heed/linear_attention.hpp"

namespace heed {

/// A well-formed call, every default filled in.
struct LinearProblem {
  Index batch;
  Index query_heads;
  Index kv_heads;
  Index query_length;
  Index key_length;
  Index head_dim;
  Index value_dim;
  float scale;
  bool is_delta;   // values are replaced by delta residuals
  bool is_kernel;  // elu

  LinearInputs inputs;
  LinearOptions options;
  LinearOutputs outputs;

  [[nodiscard]] Index heads_per_group() const { return query_heads / kv_heads; }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_linear_problem(const LinearInputs& inputs, const LinearOptions& options, const LinearOutputs& outputs,
                           LinearProblem& problem);

}  // namespace heed
