// How far what one pair of a query and a key adds to gradients may be from the exact number. A gradient is the pair's
// own times a derivative of its score, whose parts may cancel: magnitudes are sums without signs, and errors are
// relative to them.
//
// all       u kGrowth sqrt(D) and 12u: dot products and projections of queries and keys, scales, factors
// cosine    the lengths are dot products
// gated     kSigmoidError and what its argument is off by: times the gate, and, absolute, times gate (1 - gate)
// distance  the error of the score, which divides
// additive  the slope 1 - t^2, absolute: 0.77 (its steepest) times the error of the argument of tanh, 2 kTanhError
#pragma once

#include <vector>

#include "heed/score.hpp"

namespace heed::testing {

/// What the score of a pair adds to one gradient, per unit of the pair's own.
struct Derivative {
  double value = 0.0;
  double magnitude = 0.0;
  double error = 0.0;
};

/// Parameters are those for the pair's head, where they were given.
struct PairDerivatives : ScoreParameters<std::vector<Derivative>> {
  std::vector<Derivative> query, key;
};

/// `error` is that of the score, relative.
PairDerivatives differentiate_pair(const ScoreFunction& score, Index head, const std::vector<double>& query,
                                   const std::vector<double>& key, double error);

}  // namespace heed::testing
