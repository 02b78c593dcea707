// Attention in double precision, by the definition: one row, one key, one number at a
// time, no tiles, no running max. Slow on purpose; for tests and benches only.
#pragma once

#include <array>
#include <vector>

#include "heed/attention.hpp"

namespace heed::reference {

/// Results, dense, in [batch, heads, length, dim] order.
struct AttentionResult {
  std::vector<double> output;                 // [B, H, L, E]
  std::vector<double> weights;                // [B, H, L, S]
  std::vector<double> probabilities;          // [B, H, L, S], the weights before dropout
  std::vector<double> kept;                   // [B, H, L, S], what dropout multiplies them with
  std::vector<double> log_sum_exp;            // [B, H, L]
  std::vector<double> entropy;                // [B, H, L]
  std::array<std::vector<double>, 3> scores;  // by ScoreStage, [B, H, L, S]
};

/// Takes well-formed inputs only.
AttentionResult attention(const AttentionInputs& inputs, const AttentionOptions& options);

}  // namespace heed::reference
