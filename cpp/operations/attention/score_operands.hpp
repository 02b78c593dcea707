// The operands of scores: queries and keys, and the numbers that a score function needs beside them.
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

/// The operands of a score function that needs no preparation.
inline ScoreOperands score_operands(const AttentionProblem& problem) {
  return {.query = problem.inputs.query, .key = problem.inputs.key};
}

}  // namespace heed
