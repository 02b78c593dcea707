// The backward pass of linear attention.
#pragma once

#include "operations/linear_attention.hpp"

namespace heed {

struct LinearVjpInputs {
  LinearInputs forward;
  TensorView<const float> output_gradient;  // of a loss in the output, [B, max(H, G), L, E]
  TensorView<const float> state_gradient;   // in the state that the call leaves, as LinearOutputs::state; default zeros
};

/// Each has the shape of what it is the gradient of. Those of decay, beta and state may be absent; each is written in
/// whole. Heads that share a query, a key or a beta add theirs.
struct LinearGradients {
  TensorView<float> query, key, value, decay, beta, state;
};

/// Needs no result of the forward call: states are computed again. Scratch grows with L * D * E / 32 for each worker.
/// The last axis of every view must be contiguous. Nothing may overlap. The same bits come out for any number of
/// workers. A decay that counts as -infinity has a gradient of 0, and one beyond the highest that of the highest. Fails
/// without writing when an input breaks a rule.
Status linear_attention_vjp(const LinearVjpInputs& inputs, const LinearOptions& options,
                            const LinearGradients& gradients, Executor& executor);

/// It begins with the call of the forward pass, whose results are left alone.
struct LinearVjpCall {
  PackedCall<LinearCall> forward;
  PackedView output_gradient;
  PackedView new_state_gradient;
  PackedView query_gradient;
  PackedView key_gradient;
  PackedView value_gradient;
  PackedView decay_gradient;
  PackedView beta_gradient;
  PackedView state_gradient;

  HEED_FIELDS(forward, output_gradient, new_state_gradient, query_gradient, key_gradient, value_gradient,
              decay_gradient, beta_gradient, state_gradient)
};

Status run(const LinearVjpCall& call, Executor& executor);

}  // namespace heed
