// The inputs of a call as kernels read them.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

/// Query and key may be what a score function made of those given; the numbers are what it needs beside them.
struct ScoreOperands : AttentionInputs {
  const float* query_operands = nullptr;  // [B, H, L]
  const float* key_operands = nullptr;    // [B, groups, key_stride]
  Index key_stride = 0;                   // at least S
  const float* pair_weights = nullptr;    // [groups, pair_stride], times everything that multiplies the scores
  Index pair_stride = 0;                  // 0: one for all groups
};

}  // namespace heed
