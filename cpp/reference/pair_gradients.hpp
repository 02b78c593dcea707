// The gradients of score functions by their definition: one query, one key.
#pragma once

#include <span>
#include <vector>

#include "heed/score.hpp"
#include "reference/attention_vjp.hpp"

namespace heed::reference {

/// A query, a key, and the gradient of their score before any scale.
struct Pair {
  const std::vector<double>& query;
  const std::vector<double>& key;
  double of_score;
};

/// What gradients are added to.
struct PairGradients {
  std::span<double> query;
  std::span<double> key;
  ScoreVjpResult& score;
};

void add_pair_gradients(const ScoreFunction& score, Index head, const Pair& pair, const PairGradients& gradients);

}  // namespace heed::reference
