// The logistic function, 1 / (1 + 2^-x).
#pragma once

#include "kernels/simd/exp2.hpp"

namespace heed::kernels {

/// Holds its constants in registers: make one before a loop, call it inside. Of powers of two, as scores are kept:
/// sigmoid(x) is that of x log2(e). Relative error, roundings included: 4e-7; NaN gives NaN. For large negative
/// arguments it stays at the floor of the constants.
class Sigmoid {
 public:
  explicit Sigmoid(const Exp2Constants& constants) : exp2_(constants) {}

  Batch operator()(Batch x) const {
    const Batch one(1.0F);
    const Batch power = exp2_(-xsimd::abs(x));
    return xsimd::select(x < Batch(0.0F), power, one) / (one + power);
  }

 private:
  Exp2 exp2_;
};

}  // namespace heed::kernels
