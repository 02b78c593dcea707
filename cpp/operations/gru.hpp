// A gated recurrent unit over a batch of sequences: PyTorch's gates, in its order and with its formulas.
#pragma once

#include "operations/common/rows.hpp"

namespace heed {

/// B batch, T steps, H hidden.
///   r = sigmoid(i_r + W_r h + b_r)    z = sigmoid(i_z + W_z h + b_z)    n = tanh(i_n + r (W_n h + b_n))
///   h' = (1 - z) n + z h
struct GruInputs {
  Rows<const float> gates;  // [B * T, 3 H]: i_r, i_z, i_n of every step, made by affine() with the input's bias
  const float* weights;     // W_r, W_z, W_n, each [H, H] and packed, one after the other
  const float* bias;        // [3 H]: b_r, b_z, b_n; null: zeros
  Rows<const float> state;  // [B, H] before the first step; absent: zeros

  HEED_FIELDS(gates, weights, bias, state)
};

struct GruOptions {
  Index batch = 1;
  bool is_reversed = false;  // from the last step to the first

  HEED_FIELDS(batch, is_reversed)
};

struct GruCall {
  GruInputs inputs;
  GruOptions options;
  Rows<float> states;  // [B * T, H], of every step
  Rows<float> last;    // [B, H], of the last that was computed

  HEED_FIELDS(inputs, options, states, last)
};

/// Fails without writing when an input breaks a rule. Nothing may overlap.
Status run(const GruCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
