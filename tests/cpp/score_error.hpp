// How far the kernels' score of one query and one key may be from the exact one, for each score function: see
// error_model.hpp for the notation. x is the score, s its scale, t a term of its sum.
//
// product    common |x| 5u; own: D partial sums, each product twice (query * scale; the product where it is not fused)
// cosine     as a product of vectors of length 1, and to each length, from the sum of D squares: u (kGrowth sqrt(D / 2)
//            + 3), in common
// general    as the product of w^T q and k; and the D_q partial sums and products of each element of w^T q, in common
// rbf        x = -f sum of t, t = (q_d - k_d)^2: own D partial sums, t three times (the difference, twice; the product)
// distance   the same under a root, which halves relative errors
// gated      as a product; and what the gate's argument z is off by, times (1 - gate): partial sums and products of
//            w . [q; k], 4u |z|; and kSigmoidError
// additive   x = s sum of t, t = v_c tanh(y_c): own D partial sums, t three times (v s log2(e), the product); and,
// times
//            the slope of tanh, y_c itself and the partial sums and products of the key's projection; in common those
//            of the query's, and kTanhError sum |t|
#pragma once

#include <vector>

#include "heed/score.hpp"

namespace heed::testing {

/// What kernels/simd/sigmoid.hpp states; sigmoid_test.cpp holds it to that.
inline constexpr double kSigmoidError = 4e-7;

/// A score on its way, and how wrong it may be.
struct Score {
  double value;
  double common;  // of errors that keys share
  double own;     // of the key's own roundings, the square of their norm in units of u

  [[nodiscard]] double error() const;
};

/// Of query head `head`; `scale` included.
Score bound_score(const ScoreFunction& score, Index head, double scale, const std::vector<double>& query,
                  const std::vector<double>& key);

}  // namespace heed::testing
