// The normal distribution's tail: the probability of more than x.
#pragma once

#include "kernels/simd/exp2.hpp"

namespace heed::kernels {

struct NormalTailConstants {
  float minus_half_log2e = -0.72134752F;
  // t = 1 / (1 + 0.3 x) brings all x >= 0 into (0, 1].
  float squeeze = 0.3F;
  float one = 1.0F;
  // Minimax of tail(x) exp(x^2 / 2) / t in t for x up to 13.3, of relative error 1.2e-7.
  float c0 = 0.11962517F;
  float c1 = 0.1208169F;
  float c2 = 0.09952299F;
  float c3 = 0.12984367F;
  float c4 = -0.056096386F;
  float c5 = 0.20896518F;
  float c6 = -0.15871397F;
  float c7 = 0.036036395F;
};

inline constexpr NormalTailConstants kNormalTailConstants;

/// Holds its constants in registers: make one before a loop, call it inside. For x >= 0. Relative error, roundings
/// included: 7e-7 + 8e-8 x^2, down to 2^-126; NaN gives NaN.
class NormalTail {
 public:
  NormalTail() : NormalTail(opaque(&kNormalTailConstants)) {}

  Batch operator()(Batch x) const {
    const Batch t = one_ / multiply_add(squeeze_, x, one_);
    Batch polynomial = multiply_add(c7_, t, c6_);
    polynomial = multiply_add(polynomial, t, c5_);
    polynomial = multiply_add(polynomial, t, c4_);
    polynomial = multiply_add(polynomial, t, c3_);
    polynomial = multiply_add(polynomial, t, c2_);
    polynomial = multiply_add(polynomial, t, c1_);
    polynomial = multiply_add(polynomial, t, c0_);
    return polynomial * t * exp2_(x * x * minus_half_log2e_);
  }

 private:
  explicit NormalTail(const NormalTailConstants* c)
      : exp2_(kExp2OfResults),
        minus_half_log2e_(c->minus_half_log2e),
        squeeze_(c->squeeze),
        one_(c->one),
        c0_(c->c0),
        c1_(c->c1),
        c2_(c->c2),
        c3_(c->c3),
        c4_(c->c4),
        c5_(c->c5),
        c6_(c->c6),
        c7_(c->c7) {}

  Exp2 exp2_;
  Batch minus_half_log2e_, squeeze_, one_, c0_, c1_, c2_, c3_, c4_, c5_, c6_, c7_;
};

}  // namespace heed::kernels
