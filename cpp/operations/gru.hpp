// A gated recurrent unit over a batch of sequences: PyTorch's gates, in its order and with its formulas.
#pragma once

#include "heed/vocabulary.hpp"
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

/// The products of the state of some batch entries with some columns of one gate's matrix.
struct GateProduct {
  Index gate;
  const float* state;  // rows of H
  Index entries;
  Index first_column, columns;
  float* sums;  // rows of `columns`, sum_stride apart
  Index sum_stride;
  float* scratch;
};

/// What multiplies, of whatever weights.
struct GateMultiplier {
  Index panel;                 // columns of a task are a multiple of so many
  Index entry_scratch_floats;  // for each batch entry of a product
  Index scratch_floats;        // beside those
  void (*multiply)(const GruCall& call, const GateProduct& product, WeightFormat format);
  WeightFormat format = WeightFormat::f16;
};

/// The recurrence, once a call of either kind is unpacked.
Status run_gru(const GruCall& call, const GateMultiplier& multiplier, Executor& executor, const StopFlag* stop);

/// Fails without writing when an input breaks a rule. Nothing may overlap.
Status run(const GruCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed
