// Runs the backward pass of attention and holds gradients against the reference's, within the error model's bounds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention_case.hpp"
#include "heed/attention_vjp.hpp"
#include "heed/machine.hpp"

namespace heed::testing {

/// What the backward pass is given beside the tensors: of the kernels' own forward pass, and a random gradient.
struct VjpGiven {
  Owned<float> output, log_sum_exp, output_gradient, weights_gradient;
  AttentionVjpInputs inputs;
};

VjpGiven run_forward(Random& random, const AttentionTensors& tensors, const ExpressionSlopes& slopes = {});

/// Adds a random gradient of the weights.
void give_weights_gradient(Random& random, VjpGiven& given);

/// In rows with padding between them, which no kernel may write.
struct Gradients : ScoreParameters<Owned<float>> {
  Owned<float> query, key, value, bias;
  std::vector<float> sinks, tables;
  float log_scale;

  /// Of all that the tensors have.
  explicit Gradients(const AttentionTensors& tensors);
  [[nodiscard]] AttentionGradients views();
  /// Every number, padding included: to compare bits.
  [[nodiscard]] std::vector<std::uint32_t> bits() const;
};

/// Requires success.
Gradients run_backward(const VjpGiven& given, const AttentionTensors& tensors, Executor& executor = calling_thread());

/// Checks that any workers in any order give the bits of one.
void check_workers(const VjpGiven& given, const AttentionTensors& tensors);

/// Checks the gradients of one case and reports how near they came. Returns false where they could not be checked,
/// because which keys a row keeps is within the errors.
bool check_gradients(Random& random, const AttentionCase& one);
bool check_gradients(Random& random, const AttentionTensors& tensors, const ExpressionSlopes& slopes);
bool check_gradients(const VjpGiven& given, const AttentionTensors& tensors);

}  // namespace heed::testing
