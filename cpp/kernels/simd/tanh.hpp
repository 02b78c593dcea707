// The hyperbolic tangent, accurate to a few roundings everywhere.
#pragma once

#include "kernels/simd/exp2.hpp"

namespace heed::kernels {

struct TanhConstants {
  float minus_two_log2e = -2.88539008F;
  // Below this, 1 - e^(-2x) would cancel: the odd polynomial takes over.
  float small = 0.55F;
  // Minimax of (tanh(x) / x - 1) in x^2 on [0, 0.55^2].
  float c1 = -0.33332947F;
  float c2 = 0.13320729F;
  float c3 = -0.05267201F;
  float c4 = 0.016437879F;
  float one = 1.0F;
};

inline constexpr TanhConstants kTanhConstants;

/// Holds its constants in registers: make one before a loop, call it inside. Relative error,
/// roundings included: 4e-7; NaN gives NaN.
class Tanh {
 public:
  Tanh() : Tanh(opaque(&kTanhConstants)) {}

  Batch operator()(Batch x) const {
    const Batch size = xsimd::abs(x);
    const Batch square = x * x;
    Batch polynomial = multiply_add(c4_, square, c3_);
    polynomial = multiply_add(polynomial, square, c2_);
    polynomial = multiply_add(polynomial, square, c1_);
    const Batch near = multiply_add(polynomial * square, x, x);
    const Batch decay = exp2_(size * minus_two_log2e_);
    const Batch far = xsimd::copysign((one_ - decay) / (one_ + decay), x);
    return xsimd::select(size < small_, near, far);
  }

 private:
  explicit Tanh(const TanhConstants* c)
      : exp2_(kExp2OfSummands),
        minus_two_log2e_(c->minus_two_log2e),
        small_(c->small),
        c1_(c->c1),
        c2_(c->c2),
        c3_(c->c3),
        c4_(c->c4),
        one_(c->one) {}

  Exp2 exp2_;
  Batch minus_two_log2e_, small_, c1_, c2_, c3_, c4_, one_;
};

}  // namespace heed::kernels
