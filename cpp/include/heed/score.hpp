// How a query and a key make a score.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"

namespace heed {

enum class ScoreKind : std::uint8_t {
  scaled_dot = 0,  // q . k, with a scale of 1 / sqrt(D) unless given; it is 1 for all others
  dot = 1,         // q . k
  cosine = 2,      // q . k / (|q| |k|); 0 where one of them is shorter than 2^-126
  general = 3,     // q . (w k)
  additive = 4,    // v . tanh(wq q + wk k + b)
  gated = 5,       // sigmoid(w . [q; k] + b) * (q . k)
  rbf = 6,         // -|q - k|^2 / (2 bandwidth^2)
  distance = 7,    // -|q - k|
};

/// A kind and its parameters: [1, 1 or H, rows, columns], one for all query heads or one for each, contiguous along
/// the last axis. Only those that a kind names may be given; w and bandwidth must be.
struct ScoreFunction {
  ScoreKind kind = ScoreKind::scaled_dot;
  TensorView<const float> w;          // general: [D of the query, D of the key]; gated: [1, 2 D]
  TensorView<const float> wq;         // [hidden, D of the query]; absent: the identity
  TensorView<const float> wk;         // [hidden, D of the key]; absent: the identity
  TensorView<const float> b;          // additive: [1, hidden]; gated: [1, 1]; absent: 0
  TensorView<const float> v;          // [1, hidden]; absent: ones
  TensorView<const float> bandwidth;  // [1, 1], from 1e-15 to 1e15
};

}  // namespace heed
