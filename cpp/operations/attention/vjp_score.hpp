// What the backward pass owes a score function beside products: gradients through what was made of queries and keys
// once a call (see prepare_scores.hpp), and those of the parameters.
#pragma once

#include "heed/executor.hpp"
#include "kernels/backward/backward_task.hpp"
#include "operations/attention/vjp_job.hpp"
#include "operations/common/scratch.hpp"

namespace heed {

/// Holds the memory for it.
class ScoreBackward {
 public:
  ScoreBackward(const AttentionVjpProblem& problem, const AttentionVjpPlan& plan, Executor& executor);

  /// The floats that it needs if they could not be allocated, else 0.
  [[nodiscard]] Index missing_floats() const;

  /// Tells the job where the gradients of operands and the sums beside them go.
  void prepare(VjpJob& job) const;

  /// Completes the gradients of queries and keys, and makes those of the parameters.
  void run(const VjpJob& job) const;

 private:
  Executor& executor_;
  Index parameter_floats_;       // of the partial sums of a head
  Index projection_floats_;      // of a worker
  Scratch query_, key_, value_;  // gradients of operands that are not the caller's queries, keys and values
  Scratch row_sums_, key_sums_;  // [group][row][kSumLines] and [group][key]
  Scratch pair_partials_;        // [group][split][head_dim]
  Scratch partials_;             // [head][parameter_floats]
  Scratch projections_;          // [worker][projection_floats]
};

/// Completes the gradient of a query, or a key, whose pairs the score's transform is made of.
void finish_query(const VjpJob& job, const QueryAt& at, kernels::QueryGradientRow& row);
void finish_key(const VjpJob& job, Index group, Index key, float* gradient);

/// What multiplies the summed gradients of a query; what multiplies it where it adds to those of keys.
float gradient_factor(const VjpJob& job, const QueryAt& at);

}  // namespace heed
