// How far the float32 kernel of linear attention may be from the double-precision reference, from the arithmetic that
// it does and from nothing else, whatever the order of its sums. u = 2^-24.
//
// W_t is the sum of what the state was made of, by magnitude: W_t = a W_t-1 + |k| |w|, with w what was written beside
// the key (v, or what is missing of it times beta). n = D + chunk + 8 is more than the summands of any one sum of
// products.
//   met in a chunk   e_c =            chunk (the exponential's error + 3u): decays that lie a chunk apart at most
//   what is written  |w| wrong by     |beta| (n u |v| + (n u + e_c) |k| a W_t-1), and the state's own error
//   the state        column e by      N_t = r max(a) N_t-1 + |k| (error of w) + (e_c + chunk u) |k| |w| + e_a |W_t|, in
//                                     the 2-norm, with r = max(1, |1 - beta k.k|) for the delta rules, which is what
//                                     I - beta k k^T does; and for its roundings, of which a token has two at most, no
//                                     more than they add up to, nor, as they are independent, than kGrowth times the
//                                     root of their squares
//   a decay          e_a =            the series of e^g - 1 and the sum of a chunk's logarithms, (2 chunk + 8) u |g|;
//   and
//                                     where they may add up to 1/2, the exponential's error
//   an output        by               scale (|q| N_t + (e_c + (n + 2) u) |q| W_t)
//   elu + 1          relatively       the exponential's error and 2u |x|, or u, of key and query: into W
//   the normaliser   is one more column, of values 1; a quotient adds 2u
#pragma once

#include <vector>

#include "operations/linear_attention.hpp"

namespace heed::testing {

/// Absolute, in the order of the reference's results.
struct LinearBounds {
  std::vector<double> output;
  std::vector<double> state;
};

/// All numbers must be finite.
LinearBounds bound_linear(const LinearInputs& inputs, const LinearOptions& options);

}  // namespace heed::testing
