// A call of linear attention, checked, and the task of a state: its forward and its backward pass take both.
#pragma once

#include <algorithm>

#include "kernels/linear/linear_task.hpp"
#include "operations/linear_attention.hpp"
#include "problem/check_views.hpp"

namespace heed {

/// A well-formed call, every default filled in.
struct LinearProblem {
  Index batch;
  Index query_heads;
  Index state_heads;
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

  [[nodiscard]] Index output_heads() const { return std::max(query_heads, state_heads); }
  [[nodiscard]] Index heads_per_group() const { return output_heads() / state_heads; }
  /// Of so many heads the one that a head of the states uses, the first of them where it uses several.
  [[nodiscard]] Index head_of(Index heads, Index state_head) const { return state_head * heads / state_heads; }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_linear_problem(const ViewRules& rules, const LinearInputs& inputs, const LinearOptions& options,
                           const LinearOutputs& outputs, LinearProblem& problem);

/// What the kernel is told of a state of a batch entry, group = entry * state_heads + head: all but its columns
/// and its scratch.
kernels::LinearTask linear_task(const LinearProblem& problem, Index group);

LinearInputs unpack_inputs(const LinearCall& call);
LinearOptions unpack_options(const LinearCall& call);

}  // namespace heed
