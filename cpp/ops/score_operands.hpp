// Queries and keys as they meet, and the numbers that scores need beside them.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

struct ScoreOperands {
  FloatView query;
  FloatView key;
  const float* query_operands = nullptr;  // [B, H, L]
  const float* key_operands = nullptr;    // [B, groups, key_stride]
  Index key_stride = 0;                   // at least S
  const float* pair_weights = nullptr;    // [groups, pair_stride], times everything that multiplies the scores
  Index pair_stride = 0;                  // 0: one for all groups
};

/// Those of a score that meets what it is given.
inline ScoreOperands score_operands(const AttentionProblem& problem) {
  return {.query = problem.inputs.query, .key = problem.inputs.key};
}

}  // namespace heed
