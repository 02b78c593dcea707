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
// d_j of a dot product, x_j; of other scores, see score_error.hpp:
//       common:  |x_j| * 5u      scale (1/sqrt(D) in float: 1.5u), log2(e) (u), their product (u), ln 2, spare
//                |b_j| * u       log2(e)
//       own:     D partial sums of x_j                     the dot product
//                D terms of x_j, twice                     query * (scale log2(e)); the product where it is not fused
//                2 b_j, s_j, s_j - m                       bias * log2(e), its sum with x_j, the shift by the maximum
//       tiny:    2^-149 (D + sum |k_j|)                    denormal products
//       int8 keys, common: |scale| max|q| / (2 W) sum |k_j|    decode quantizes the query to whole numbers up to W,
//                which is 2^15 - 1, or less, so that D of their products with 127 are within 2^31
// weight, relative, before normalising: kExp2Error, and once more with u for each time the running maximum rose
// sum of weights:     S partial sums of p                  by magnitude after equal weights; and u for each rescaling
// sum of p_j v_j:     S partial sums, S products           likewise
// division:           2u
// exp2's floor:       2^-80 of the row's largest weight for each key, where it should be less
//
// softcap c, c tanh(x / c) =: y in place of x:
//   error in x           times the largest slope of tanh that it can reach
//   |x| slope * 4u       log2(e), its product with c, the inverse, its product with x
//   |y| (kTanhError+4u)  tanh itself, c log2(e), the product, spare
// ALiBi, a = -slope * distance:
//   common |a| * 2u      log2(e), its product with the slope; own: a (where not fused), y + a
// a sink is a key of value 0 that comes last, with
//   |sink| * 2u + u |sink - highest|, exp2 and log of the C library (2u each); and to all weights
//   u * (|m - highest| + 8)  for the rescaling by 2^(m - highest)
// dropout, weight j times c_j, which is 0 or 1 / (1 - p): values are c_j v_j for the output; and 2u for the factor and
// its
//   product
// other normalizers: see normalizer_error.hpp
// top-k, and the hard maximum, which is the best: exact, unless a key that is kept and one that is not are nearer to
// each other
//   than their errors
// scores that are handed out: d_j as far as they have come, and 2u for ln 2
// entropy H = A + B, A = sum p_j (m - s_j), B = P (lse - m), P = sum p_j (1 but for a sink); both parts are positive.
//   d_j moves it by p_j (ln p_j + 1 - P + H) d_j, weights before normalising likewise; A is a sum as the others are.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "heed/attention.hpp"

namespace heed::testing {

inline constexpr double kUnitRoundoff = 0x1p-24;
inline constexpr double kGrowth = 4.0;

/// What kernels/simd/exp2.hpp states; exp2_test.cpp holds it to that.
inline constexpr double kExp2Error = 1.8e-7;

/// What kernels/simd/tanh.hpp states; tanh_test.cpp holds it to that.
inline constexpr double kTanhError = 4e-7;

struct RowBounds {
  std::vector<double> output;                 // [E], absolute
  std::vector<double> weights;                // [S], absolute
  double log_sum_exp = 0.0;                   // absolute
  double entropy = 0.0;                       // absolute
  std::array<std::vector<double>, 3> scores;  // by ScoreStage, [S], absolute
  bool is_open = false;                       // which keys are the best is within the errors: only scores are bounded
  double apart = 0.0;                         // the exact scores of the last of the best and the first of the others
};

struct RowPosition {
  Index b, h, i;
};

/// The reference's for one row.
struct ExactRow {
  std::span<const double> weights;  // before dropout
  std::span<const double> scores;   // masked
  double log_sum_exp;
  double entropy;
  std::span<const std::vector<double>> keys;    // that the row's head reads
  std::span<const std::vector<double>> values;  // likewise
  std::span<const double> kept = {};            // what dropout multiplies each weight with; empty: 1
};

/// What happens to the scores of a row between the product and the softmax.
struct ScoreRules {
  double scale = 1.0;
  ScoreFunction score = {};
  double softcap = 0.0;  // 0: none
  double slope = 0.0;    // ALiBi's
  double position = 0.0;
  double sink = -std::numeric_limits<double>::infinity();
  Normalizer normalizer = Normalizer::softmax;
  std::int32_t top_k = 0;
  Expressions expressions = {};
};

/// All numbers that take part must be finite.
RowBounds bound_row(const AttentionInputs& inputs, const ScoreRules& rules, const RowPosition& row,
                    const ExactRow& exact);

}  // namespace heed::testing
