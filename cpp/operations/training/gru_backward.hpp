// The backward pass of a gated recurrent unit, through time.
#pragma once

#include "operations/gru.hpp"

namespace heed {

struct GruBackwardInputs {
  GruInputs forward;
  Rows<const float> states;           // what gru() gave, [B * T, H]
  const float* weights;               // [W_r; W_z; W_n] of 3 H rows, transposed and packed: H outputs of 3 H inputs
  Rows<const float> state_gradients;  // of every step, [B * T, H]; absent: zeros
  Rows<const float> last_gradient;    // of the last state, [B, H]; absent: zeros
};

/// The gradient of the gates' products with the state, W h + b, is `hidden`: dW = hidden^T previous.
struct GruBackwardOutputs {
  Rows<float> gates;     // [B * T, 3 H]
  Rows<float> hidden;    // [B * T, 3 H]
  Rows<float> previous;  // the state before every step, [B * T, H]
  Rows<float> state;     // of the state before the first step, [B, H]
};

/// Nothing may overlap. The same bits come out for any number of workers. Fails without writing when an input breaks a
/// rule.
Status gru_backward(const GruBackwardInputs& inputs, const GruOptions& options, const GruBackwardOutputs& outputs,
                    Executor& executor);

struct GruBackwardCall {
  GruCall forward;
  PackedView transposed_weights;
  PackedView state_gradients;
  PackedView last_gradient;
  PackedView gates_gradient;
  PackedView hidden_gradient;
  PackedView previous;
  PackedView state_gradient;

  HEED_FIELDS(forward, transposed_weights, state_gradients, last_gradient, gates_gradient, hidden_gradient, previous,
              state_gradient)
};

Status run(const GruBackwardCall& call, Executor& executor);

}  // namespace heed
