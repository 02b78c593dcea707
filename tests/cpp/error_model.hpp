// How far the float32 kernels may be from the double-precision reference, row by row, from the arithmetic they do and
// from nothing else. Knows what attention is, not where masks come from: a key with reference weight 0 takes no part.
//
// Notation: u = 2^-24; for one row, p_j the weights, s_j = x_j + b_j the scores (scaled dot product and bias), m their
// maximum, o = sum p_j v_j the output. To first order an error d_j in score j moves
//     output by p_j d_j (v_j - o),   lse by p_j d_j,   weight i by p_i ((i == j) - p_j) d_j,
// and a relative error in weight j before normalising does the same.
//
// Roundings are independent and at most u, so n of them in terms t add up to less than kGrowth * u * sqrt(sum t^2) but
// with probability 2 exp(-kGrowth^2 / 2) (Higham and Mary 2019, theorem 2.4, from Hoeffding); they are close to
// uniform, of variance u^2 / 3, which makes that 2 exp(-3 kGrowth^2 / 2) = 1e-10 an element. Errors that many keys have
// in common are added by magnitude instead. Keys are taken to be drawn independently of each other.
//
// d_j   common:  |x_j| * 5u      scale (1/sqrt(D) in float: 1.5u), log2(e) (u), their product (u), ln 2, spare
//                |b_j| * u       log2(e)
//       own:     D partial sums of x_j                     the dot product
//                D terms of x_j, twice                     query * (scale log2(e)); the product where it is not fused
//                2 b_j, s_j, s_j - m                       bias * log2(e), its sum with x_j, the shift by the maximum
//       tiny:    2^-149 (D + sum |k_j|)                    denormal products
// weight, relative, before normalising: kExp2Error, and once more with u for each time the running maximum rose
// sum of weights:     S partial sums of p                  and u for each rescaling
// sum of p_j v_j:     S partial sums, S products           likewise
// division:           2u
// exp2's floor:       2^-80 of the row's largest weight for each key, where it should be less
#pragma once

#include <span>
#include <vector>

#include "heed/attention.hpp"

namespace heed::testing {

inline constexpr double kUnitRoundoff = 0x1p-24;
inline constexpr double kGrowth = 4.0;

/// What kernels/exp2.hpp states; exp2_test.cpp holds it to that.
inline constexpr double kExp2Error = 1.8e-7;

struct RowBounds {
  std::vector<double> output;   // [E], absolute
  std::vector<double> weights;  // [S], absolute
  double log_sum_exp = 0.0;     // absolute
};

struct RowPosition {
  Index b, h, i;
};

/// `weights` and `log_sum_exp` are the reference's for this row. All numbers that take part must be finite.
RowBounds bound_row(const AttentionInputs& inputs, double scale, const RowPosition& row,
                    std::span<const double> weights, double log_sum_exp);

}  // namespace heed::testing
