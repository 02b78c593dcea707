// 2^x for arguments that are never positive, as the softmax needs it.
#pragma once

#include <cstdint>

#include "kernels/simd/batch.hpp"

namespace heed::kernels {

struct Exp2Constants {
  float floor;
  // 1.5 * 2^23 + 127: adding it rounds x to an integer n and leaves n + 127, the exponent
  // field of 2^n, in the low bits.
  float round = 12583039.0F;
  // Minimax polynomial of 2^f on [-1/2, 1/2] with 2^0 = 1 exactly, so that sums under an
  // unchanged maximum stay as they are. Relative error, roundings included: 1.8e-7.
  float one = 1.0F;
  float c1 = 0.693147F;  // NOLINT(modernize-use-std-numbers): the fit, not ln 2
  float c2 = 0.24022233F;
  float c3 = 0.055506997F;
  float c4 = 0.009671652F;
  float c5 = 0.0013269538F;
};

/// For weights on their way into a sum: below 2^-80 one no longer counts, and
/// 2^-126 times a value would be a denormal, which costs a hundred cycles.
inline constexpr Exp2Constants kExp2OfSummands{.floor = -80.0F};

/// For weights to look at: every result that is a normal number.
inline constexpr Exp2Constants kExp2OfResults{.floor = -126.0F};

/// Holds its constants in registers: make one before a loop, call it inside.
/// Results below 2^floor are 2^floor, never zero; NaN gives NaN.
class Exp2 {
 public:
  explicit Exp2(const Exp2Constants& constants) : Exp2(opaque(&constants)) {}

  Batch operator()(Batch x) const {
    x = at_least(x, floor_);
    const Batch shifted = x + round_;
    const Batch fraction = x - (shifted - round_);
    Batch power = multiply_add(c5_, fraction, c4_);
    power = multiply_add(power, fraction, c3_);
    power = multiply_add(power, fraction, c2_);
    power = multiply_add(power, fraction, c1_);
    power = multiply_add(power, fraction, one_);
    // A product rather than a sum of exponents: NaN stays NaN.
    const auto exponent = xsimd::bitwise_cast<std::int32_t>(shifted) << 23;
    return power * xsimd::bitwise_cast<float>(exponent);
  }

 private:
  explicit Exp2(const Exp2Constants* c)
      : floor_(c->floor), round_(c->round), one_(c->one), c1_(c->c1), c2_(c->c2), c3_(c->c3), c4_(c->c4), c5_(c->c5) {}

  Batch floor_, round_, one_, c1_, c2_, c3_, c4_, c5_;
};

}  // namespace heed::kernels
