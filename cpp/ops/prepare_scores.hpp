// What a score function makes of queries and keys before they meet, once a call: cosine their inverse lengths, general
// and additive the projections, which take their place, gated a number of each. Memory grows with L + S, never with L *
// S.
#pragma once

#include "heed/executor.hpp"
#include "kernels/task/attention_task.hpp"
#include "ops/score_operands.hpp"
#include "ops/scratch.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

/// A tensor of which something is made, row by row.
struct Preparation {
  FloatView source;                // [B, heads of its own, length, dim]; absent: nothing is made
  Index heads = 0;                 // of what is made; a multiple of the source's
  Index first_head = 0;            // of those parameters that have one for each, which then are the query heads
  Index target_dim = 0;            // floats that a row becomes
  Index head_stride = 0;           // floats from one head of them to the next
  bool inverts_lengths = false;    // or projects, by
  TensorView<const float> matrix;  // see kernels::ProjectionBlock; [1, 1 or heads, rows, columns], as are offsets
  bool is_transposed = false;
  TensorView<const float> offset;

  [[nodiscard]] Index floats() const { return source.is_present() ? source.shape[0] * heads * head_stride : 0; }
};

/// Holds the memory of what it makes.
class ScorePreparation {
 public:
  ScorePreparation(const AttentionProblem& problem, Executor& executor);

  /// All the memory that it needs, in floats; 0: it could be had.
  [[nodiscard]] Index missing_floats() const;

  /// Makes everything, and says what meets: what was made, or else what the problem was given. The calling thread and
  /// its workers stop early where the problem's flag says so.
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
