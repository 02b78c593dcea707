// How a query and a key make a score.
#pragma once

#include <cstdint>

#include "heed/tensor_view.hpp"
#include "heed/vocabulary.hpp"

namespace heed {

/// Something for each parameter of a score function.
template <typename T>
struct ScoreParameters {
  T w;          // general: [D of the query, D of the key]; gated: [1, 2 D]
  T wq;         // [hidden, D of the query]; absent: the identity
  T wk;         // [hidden, D of the key]; absent: the identity
  T b;          // additive: [1, hidden]; gated: [1, 1]; absent: 0
  T v;          // [1, hidden]; absent: ones
  T bandwidth;  // [1, 1], from 1e-15 to 1e15
};

/// Calls visit(name, those of `all`) for each parameter.
template <typename Visit, typename... All>
void for_each_parameter(const Visit& visit, All&... all) {
  visit("w", all.w...);
  visit("wq", all.wq...);
  visit("wk", all.wk...);
  visit("b", all.b...);
  visit("v", all.v...);
  visit("bandwidth", all.bandwidth...);
}

/// A kind and its parameters: [1, 1 or H, rows, columns], one for all query heads or one for each, contiguous along
/// the last axis. Only those that a kind names may be given; w and bandwidth must be.
struct ScoreFunction : ScoreParameters<TensorView<const float>> {
  ScoreKind kind = ScoreKind::scaled_dot;
};

}  // namespace heed
