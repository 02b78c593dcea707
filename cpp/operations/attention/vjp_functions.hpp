// The caller's functions of scores and weights in the backward pass: their derivatives, and the gradients of the tables
// that they read, in partial sums.
#pragma once

#include "kernels/backward/backward_task.hpp"
#include "operations/attention/vjp_job.hpp"
#include "operations/common/scratch.hpp"

namespace heed {

/// Holds the memory for it.
class FunctionBackward {
 public:
  FunctionBackward(const AttentionVjpProblem& problem, const AttentionVjpPlan& plan);

  /// The floats that it needs if they could not be allocated, else 0.
  [[nodiscard]] Index missing_floats() const;

  /// Derivatives, and partial sums, which it clears.
  [[nodiscard]] VjpFunctions prepare(const AttentionVjpProblem& problem, const AttentionVjpPlan& plan) const;

  /// Writes the gradients of tables.
  void run(const VjpJob& job) const;

 private:
  Scratch reads_;     // [read_count] of kernels::TableSlope, those of scores first
  Scratch partials_;  // [table_partials][table_numbers]
};

}  // namespace heed
