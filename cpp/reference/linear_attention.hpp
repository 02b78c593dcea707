// Linear attention in double precision, by the definition: one token after the other, the state as a matrix.
#pragma once

#include <vector>

#include "operations/linear_attention.hpp"

namespace heed::reference {

/// Results, dense.
struct LinearResult {
  std::vector<double> output;  // [B, H, L, E]
  std::vector<double> state;   // [B, G, D, E], for elu [B, G, D, E + 1]
};

/// Takes well-formed inputs only.
LinearResult linear_attention(const LinearInputs& inputs, const LinearOptions& options);

/// The numbers of a key or query that the rule computes with.
double feature_of(LinearRule rule, double number);

}  // namespace heed::reference
