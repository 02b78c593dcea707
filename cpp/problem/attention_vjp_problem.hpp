// Validates what the backward pass of attention is given. As attention_problem.hpp, it chooses and computes nothing.
#pragma once

#include "heed/attention_vjp.hpp"
#include "problem/attention_problem.hpp"

namespace heed {

struct AttentionVjpProblem {
  AttentionProblem forward;
  TensorView<const float> output;
  TensorView<const float> log_sum_exp;
  TensorView<const float> output_gradient;
  TensorView<const float> weights_gradient;
  ExpressionSlopes slopes;
  AttentionGradients gradients;  // of the bias with strides of 0 where it broadcasts

  /// Whether anything is wanted that takes the gradients of queries, or the sums beside them.
  [[nodiscard]] bool wants_queries() const {
    const ScoreGradients& score = gradients.score;
    return gradients.query.is_present() || score.w.is_present() || score.wq.is_present() || score.b.is_present() ||
           score.bandwidth.is_present();
  }
  /// Whether the weights of a row are divided by their sum.
  [[nodiscard]] bool is_softmax() const { return forward.options.normalizer == Normalizer::softmax; }
  /// Whether weights are constants: those of a choice that is held fixed.
  [[nodiscard]] bool are_weights_fixed() const { return forward.options.normalizer == Normalizer::hard; }

  /// Whether the output of a row tells the mean of the gradients of its weights: see kernels/backward/row_delta.hpp.
  [[nodiscard]] bool has_plain_deltas() const {
    return is_softmax() && !forward.options.expressions.have(ProgramOf::weight) && !weights_gradient.is_present();
  }
  [[nodiscard]] bool wants_tables() const { return slopes.read_count > 0; }

  /// Whether the gradients of the bias sum over an axis of [B, H, L, S].
  [[nodiscard]] bool sums_bias_over(std::size_t axis) const {
    return gradients.bias.is_present() && gradients.bias.strides[axis] == 0 && gradients.bias.shape[axis] > 1;
  }
};

/// Fills `problem`, or says which rule the call breaks.
Status make_attention_vjp_problem(const AttentionVjpInputs& inputs, const AttentionOptions& options,
                                  const AttentionGradients& gradients, AttentionVjpProblem& problem);

}  // namespace heed
