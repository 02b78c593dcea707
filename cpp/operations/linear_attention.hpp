// Linear attention: a state matrix a value head, which keys and values are written to and queries read from.
#pragma once

#include <optional>

#include "heed/status.hpp"
#include "heed/vocabulary.hpp"
#include "operations/common/call.hpp"

namespace heed {

/// B batch, H query heads, F key heads, G value heads and so many states, L queries, S keys, D head_dim, E value_dim.
/// G is a multiple of F: a key is written to G / F states. H is a multiple of G, and H / G query heads read a state, or
/// a divisor of G, and a query reads G / H states.
struct LinearInputs {
  FloatView query;  // [B, H, L, D]
  FloatView key;    // [B, F, S, D], S = L unless the call is not causal
  FloatView value;  // [B, G, S, E]
  TensorView<const float>
      decay;                     // [B, G, L, D], or [B, G, L, 1] for all dimensions; for the gated rules, which need it
  TensorView<const float> beta;  // [B, G, L, 1], or [B, 1, L, 1] for all heads; for the delta rules, default ones
  TensorView<const float> state;  // the state before the call, as LinearOutputs::state; default zeros
};

struct LinearOptions {
  LinearRule rule = LinearRule::linear;
  std::optional<float> scale;  // default 1 / sqrt(D); not for elu
  bool causal = true;          // false, for elu alone: every query reads the state that all keys leave

  // Once set, the call ends soon with StatusCode::aborted, its outputs incomplete.
  const StopFlag* stop = nullptr;
};

/// Any of them may be absent; each is written in whole.
struct LinearOutputs {
  TensorView<float> output;  // [B, max(H, G), L, E]
  TensorView<float> state;   // [B, G, D, E]; for elu [B, G, D, E + 1], whose last column is the sum of f(k)
};

/// The last axis of every view must be contiguous. Scratch grows with D * E. Nothing may overlap. The views must stay
/// valid for the call; nothing is kept. Fails without writing when an input breaks a rule.
Status linear_attention(const LinearInputs& inputs, const LinearOptions& options, const LinearOutputs& outputs,
                        Executor& executor);

struct LinearCall {
  CallHeader header;
  PackedView query;
  PackedView key;
  PackedView value;
  PackedView decay;
  PackedView beta;
  PackedView state;
  PackedView output;
  PackedView new_state;
  LinearRule rule;
  std::int32_t causal;
  float scale;  // NaN: the default
  std::int32_t query_type;
  std::int32_t key_type;
  std::int32_t value_type;

  HEED_FIELDS(header, query, key, value, decay, beta, state, output, new_state, rule, causal, scale, query_type,
              key_type, value_type)
};

Status run(const LinearCall& call, Executor& executor);

}  // namespace heed
