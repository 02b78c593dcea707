// What the backward pass owes a score function beside products: gradients through what was made of queries and keys
// once a call (see prepare_scores.hpp), and those of the parameters.
#pragma once

#include "heed/executor.hpp"
#include "kernels/backward/backward_task.hpp"
#include "operations/attention/vjp_job.hpp"
#include "operations/common/scratch.hpp"

namespace heed {

/// Rows of queries or keys, [batch, heads, length, dim], and the gradients of what a parameter made of them, where
/// several heads may read those of one.
struct ParameterRows {
  FloatView rows;
  TensorView<const float> gradients;
  bool is_transposed = false;  // see kernels::ParameterTask
  Index first_column = 0;      // of the parameter
};

/// Holds the memory for it.
class ScoreBackward {
 public:
  ScoreBackward(const AttentionProblem& forward, const AttentionVjpPlan& plan, Executor& executor);

  /// The floats that it needs if they could not be allocated, else 0.
  [[nodiscard]] Index missing_floats() const;

  /// Where the gradients of operands and the sums beside them go.
  [[nodiscard]] VjpOperands operands(const AttentionVjpProblem& problem) const;

  /// Completes the gradients of queries and keys, and makes those of the parameters.
  void run(const VjpJob& job) const;

 private:
  void sum_parameters(const VjpJob& job) const;
  /// Sums a parameter, or columns of one, for each head, and adds these in order where they share it.
  void sum(const VjpJob& job, const TensorView<float>& parameter, const ParameterRows& from) const;

  Executor& executor_;
  Index product_floats_;         // of a worker
  Scratch query_, key_, value_;  // gradients of operands that are not the caller's queries, keys and values
  Scratch row_sums_, key_sums_, pair_partials_;  // see VjpOperands
  Scratch parameters_;                           // [head], sums
  Scratch products_;                             // [worker][product_floats]
};

/// What completes the gradient of a query, or a key, whose pairs the score's transform is made of.
kernels::GradientEpilogue query_epilogue(const VjpJob& job, const QueryAt& at);
kernels::GradientEpilogue key_epilogue(const VjpJob& job, Index group, Index key);

/// What multiplies the summed gradients of a query; what multiplies it where it adds to those of keys.
float gradient_factor(const VjpJob& job, const QueryAt& at);

}  // namespace heed
