// The operands that a score function computes once a call: inverse lengths for cosine, projections that replace queries
// and keys for general and additive, a number for each query and key for gated. Memory grows with L + S, never with
// L * S.
#pragma once

#include "heed/executor.hpp"
#include "kernels/task/attention_task.hpp"
#include "operations/attention/score_operands.hpp"
#include "operations/common/scratch.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// How the rows of a tensor become operands.
struct Preparation {
  FloatView source;                // [B, heads of its own, length, dim]; absent: there are no operands
  Index heads = 0;                 // of the operands; a multiple of the source's
  Index first_head = 0;            // the first query head, for parameters of each head
  Index target_dim = 0;            // floats of an operand
  Index head_stride = 0;           // floats from one head to the next
  bool inverts_lengths = false;    // or else projects, by:
  TensorView<const float> matrix;  // see kernels::ProjectionTask; [1, 1 or heads, rows, columns], as are offsets
  bool is_transposed = false;
  TensorView<const float> offset;

  [[nodiscard]] Index floats() const { return source.is_present() ? source.shape[0] * heads * head_stride : 0; }
};

/// Holds the memory of the operands.
class ScorePreparation {
 public:
  ScorePreparation(const AttentionProblem& problem, Executor& executor);

  /// The floats that it needs if they could not be allocated, else 0.
  [[nodiscard]] Index missing_floats() const;

  /// Computes the operands and returns them; what needs no preparation is the problem's own. It stops early where the
  /// problem's flag says so.
  ScoreOperands run(const AttentionProblem& problem);

 private:
  void make(const Preparation& preparation, float* target, const StopFlag* stop);

  Executor& executor_;
  Preparation query_, key_;
  Index pair_dim_;  // 0: the score has no pair weights
  int workers_;
  Index scratch_per_worker_;
  Scratch query_memory_, key_memory_, pair_memory_, scratch_;
};

}  // namespace heed
