// The gradients of linear attention in double precision, by the chain rule through one token after the other; and how
// far float32 may be from them, from the arithmetic that the kernel does and from nothing else, to first order.
// u = 2^-24. A column of the state, or of its gradient, has an error in the 2-norm; all else has one a number.
//   a sum of n products   errors of its terms, and (n + 2) u of their magnitudes, in whatever order they are added
//   a column by a row     |row| of the column's error, and likewise
//   a token that writes   adds |k| of the error of what it writes, and 3u of what it adds and becomes; the delta rules,
//                         which are I - beta k k^T, let max(1, |1 - beta k.k|) of the column's error through
//   a decay               exponentials and the series of e^g - 1, 11 u |g|, and 3u of the column; where it may not be
//                         the series, the exponential's error
//   elu + 1               relatively the exponential's error and 2u (1 + |x|), of keys, queries and slopes
#pragma once

#include <vector>

#include "operations/training/linear_vjp.hpp"

namespace heed::testing {

/// A number, and how far from it float32 may be.
struct Bounded {
  double value = 0.0;
  double error = 0.0;
};

/// Dense, in [batch, heads, length, dim] order of what each is the gradient of.
struct LinearVjpReference {
  std::vector<Bounded> query, key, value, decay, beta, state;
};

/// Takes well-formed inputs only.
LinearVjpReference reference_vjp(const LinearVjpInputs& inputs, const LinearOptions& options);

}  // namespace heed::testing
