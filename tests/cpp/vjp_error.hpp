// How far the kernels' gradients may be from the exact ones: see error_model.hpp for the notation. Errors of the parts
// of a sum are added by magnitude, because rows and keys have them in common.
//
// p_j      relative: d_j, the error of lse, u (2 |lse| + |s_j - lse|), kExp2Error; and 2^-80, where exp2 has its floor
// dP_j     E partial sums, E products, and those of dO and the dropout factor; the gradient of the weights
//          with top-k, sparsemax: the forward pass' bound of weights
// delta    sum |dO| * the error of O; E / 4 partial sums in each of 4 or more lanes; E products
//          where a function of weights follows, or weights have a gradient, sum p_j dP_j
// dS_j     of p_j (dP_j - delta), the difference, the product; of sigmoid w (1 - w) dP_j with
//            error of w (1 - w): d_j / 10 (its steepest), kSigmoidError w, 2u
//            of sparsemax dP_j less the mean of those in the support, which are sums and one division
// softcap  slope 1 - t^2, t = tanh(x / c): 0.77 (its steepest) times the error of x / c, 2 t^2 kTanhError, 4u
// functions of scores and weights  their derivatives, programs as they are: see expression_error.hpp
// a score's parts, and the parameters of score functions: see pair_error.hpp
// dQ, dK, dV, dbias, dsinks: sums of such terms, of which each and each partial sum is rounded. Sums begin anew with
//            every block of keys or rows, so that a partial sum is a difference of two of the whole sum's. The
//            gradients of a bias are summed in an order of their own.
#pragma once

#include <optional>
#include <vector>

#include "error_model.hpp"
#include "heed/attention_vjp.hpp"
#include "reference/attention_vjp.hpp"

namespace heed::testing {

/// Absolute, in the order of the reference's numbers.
struct VjpBounds : ScoreParameters<std::vector<double>> {
  std::vector<double> query, key, value, bias, sinks, tables;
  double log_scale = 0.0;
};

/// The bounds of the forward pass' rows, and the same without dropout.
struct ForwardBounds {
  std::vector<RowBounds> rows;
  std::vector<RowBounds> undropped;
};

/// `given` tells the programs of derivatives. Empty where the keys that are kept, or have a weight, are within the
/// errors.
std::optional<VjpBounds> bound_vjp(const AttentionVjpInputs& given, const AttentionOptions& options,
                                   const reference::AttentionVjpResult& exact, const ForwardBounds& forward);

}  // namespace heed::testing
