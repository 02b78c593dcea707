// How a query and a key make a score.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

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
