// The backward pass of a gated recurrent unit, through time.
#pragma once

#include "operations/gru.hpp"

namespace heed {

/// The gradient of the gates' products with the state, W h + b, is `hidden_gradient`: dW = hidden_gradient^T previous.
struct GruBackwardCall {
  GruInputs forward;
  GruOptions options;
  Rows<const float> states;           // what the forward pass gave, [B * T, H]
  const float* transposed_weights;    // [W_r; W_z; W_n] of 3 H rows, transposed and packed: H outputs of 3 H inputs
  Rows<const float> state_gradients;  // of every step, [B * T, H]; absent: zeros
  Rows<const float> last_gradient;    // of the last state, [B, H]; absent: zeros
  Rows<float> gates_gradient;         // [B * T, 3 H]
  Rows<float> hidden_gradient;        // [B * T, 3 H]
  Rows<float> previous;               // the state before every step, [B * T, H]
  Rows<float> state_gradient;         // of the state before the first step, [B, H]

  HEED_FIELDS(forward, options, states, transposed_weights, state_gradients, last_gradient, gates_gradient,
              hidden_gradient, previous, state_gradient)
};

/// Nothing may overlap. The same bits come out for any number of workers. Fails without writing when an input breaks a
/// rule.
Status run(const GruBackwardCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
