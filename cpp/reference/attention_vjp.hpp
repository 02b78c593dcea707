// The gradients of attention in double precision, by the chain rule: one row, one key, one number at a time. Slow on
// purpose; for tests only.
#pragma once

#include <vector>

#include "reference/attention.hpp"

namespace heed::reference {

/// Each in the shape of what was given; empty where nothing was.
using ScoreVjpResult = ScoreParameters<std::vector<double>>;

/// Gradients of the sum of output * output_gradient and of weights * weights_gradient, dense, in [batch, heads, length,
/// dim] order.
struct AttentionVjpResult {
  AttentionResult forward;
  std::vector<double> query;  // as the query has it, and so on
  std::vector<double> key;
  std::vector<double> value;
  std::vector<double> bias;   // of the bias as it was given; empty: none was
  std::vector<double> sinks;  // [H], likewise
  double log_scale = 0.0;     // the scale times its gradient
  ScoreVjpResult score;
  std::vector<double> tables;  // of the numbers of all tables of expressions

  // What these are made of, [B, H, L, S]; zeros where a pair is masked.
  std::vector<double> of_rewritten;  // gradients of the weights before dropout
  std::vector<double> of_weights;    // of those before weight_mod
  std::vector<double> of_scores;     // of the scores that the normalizer takes
  std::vector<double> of_raw;        // of the scores before softcap
};

/// Takes well-formed inputs only. The gradient of the weights may be absent.
AttentionVjpResult attention_vjp(const AttentionInputs& inputs, const AttentionOptions& options,
                                 const TensorView<const float>& output_gradient,
                                 const TensorView<const float>& weights_gradient = {});

}  // namespace heed::reference
